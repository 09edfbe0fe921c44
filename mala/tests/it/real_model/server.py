"""Serves a small model on loopback until its stdin ends: server.py MODEL

Prints its address. It is deterministic, and it works with one thread: two that wait for each other are
slower than one where other tests run too. A request that names no form is held to the plain one, which
leaves the model the verdict to choose: left alone it hardly ever writes JSON.
"""
import sys

import xllamacpp

PLAIN_FORM = r'''
root ::= "{\"verdict\": \"" verdict "\", \"findings\": []}"
verdict ::= "PASS" | "FAIL" | "NEEDS_WORK"
'''

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_ctx = 8192
params.n_parallel = 1
params.use_jinja = True
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.sampling.temp = 0.0
user = xllamacpp.common_grammar_type.COMMON_GRAMMAR_TYPE_USER
params.sampling.grammar = xllamacpp.CommonGrammar(user, PLAIN_FORM)
params.hostnames = ["127.0.0.1"]
params.port = 0
params.offline = True
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
