//! Calls whose meaning is the same in every library: loading modules, calling through `call` and
//! `apply`, walking lists, waiting for promises, adding to collections.

use super::super::api::Edge;
use super::super::ir::{CallKind, ExprId, Expression};
use super::super::value::{Known, Value};
use super::Machine;
use super::calls::Site;
use super::functions::Given;
use super::statements::join_first;
use mala_domain::language::Language;

impl<'p> Machine<'p> {
    /// Calls that are not really calls.
    pub(super) fn special_call(&mut self, site: &Site<'p>) -> Option<Value> {
        let name = self.names.text(site.name?).to_owned();
        match (name.as_str(), &site.receiver) {
            ("require" | "import", None) if self.is_javascript() => self.load(site),
            ("call" | "apply" | "bind", Some((_, function))) if is_callable(function) => {
                let function = function.clone();
                self.call_through(site, &name, &function)
            }
            (_, None) if self.is_resolver(site) => {
                let value = site.values.first().cloned().unwrap_or_default();
                self.settle(site, value);
                Some(Value::default())
            }
            ("useState" | "useReducer", _) if self.is_javascript() => Some(self.state_pair(site)),
            (_, None) if self.is_setter(site) => {
                let value = site.values.first().cloned().unwrap_or_default();
                self.settle(site, value);
                Some(Value::default())
            }
            ("Promise", None) if site.kind == CallKind::Creation => Some(self.promise(site)),
            ("createElement", Some(_)) => {
                let tag = site.values.first().and_then(Value::text)?.to_lowercase();
                Some(self.root_value(&format!("tag:{tag}"), site.place))
            }
            _ => None,
        }
    }

    fn is_javascript(&self) -> bool {
        matches!(self.language, Language::JavaScript | Language::TypeScript | Language::Tsx)
    }

    fn load(&mut self, site: &Site<'p>) -> Option<Value> {
        let names = site.values.first().map(Value::texts).unwrap_or_default().to_vec();
        let mut value = Value::default();
        for name in names {
            let module = self.module(&name, site.place);
            value = join_first(&value, module);
        }
        if value.facts().is_none() {
            self.check_call(site);
        }
        Some(value)
    }

    /// `f.call(x, a)`, `f.apply(x, [a])`, `f.bind(x)`.
    fn call_through(&mut self, site: &Site<'p>, how: &str, function: &Value) -> Option<Value> {
        if how == "bind" {
            return Some(function.clone());
        }
        let values: Vec<Value> = match how {
            "call" => site.values.iter().skip(1).cloned().collect(),
            _ => {
                let list = site.values.get(1).cloned().unwrap_or_default();
                vec![self.element_of(&list, site.place)]
            }
        };
        let given = Given { values: values.clone(), ..Given::default() };
        let mut result = Value::default();
        for id in function.functions().to_vec() {
            let value = self.call_function(id, &given);
            result = join_first(&result, value);
        }
        if function.functions().is_empty() {
            let arguments =
                if how == "call" { site.arguments.get(1..)? } else { site.arguments.get(1..2)? };
            let inner = Site {
                name: self.last_name(function),
                receiver: None,
                callee: function.clone(),
                arguments,
                values,
                apis: function.apis().to_vec(),
                ..*site
            };
            self.check_call(&inner);
            if how == "call" && self.is_list_method(&inner) {
                let list = site.values.first().cloned().unwrap_or_default();
                return Some(list);
            }
            let apis = function.apis().to_vec();
            result = self.follow(&apis, Edge::Call, site.place);
        }
        Some(result)
    }

    /// `Array.prototype.slice.call(arguments)` gives a list of the same.
    fn is_list_method(&self, site: &Site<'p>) -> bool {
        site.name.is_some_and(|name| matches!(self.names.text(name), "slice" | "concat" | "from"))
    }

    fn last_name(&self, function: &Value) -> Option<super::Sym> {
        function.apis().first().and_then(|api| match self.apis.edge(*api) {
            Edge::Name(name) => Some(name),
            _ => None,
        })
    }

    /// `new Promise((resolve) => resolve(x))` is `x`.
    fn promise(&mut self, site: &Site<'p>) -> Value {
        let root = format!("promise#{}", site.id.0);
        let resolver = self.root_value(&root, site.place);
        for id in site.values.first().map(Value::functions).unwrap_or_default().to_vec() {
            let given = Given { values: vec![resolver.clone()], ..Given::default() };
            self.call_function(id, &given);
        }
        let apis = resolver.apis().to_vec();
        let settled = self.follow(&apis, Edge::Call, site.place);
        let mut value = settled.clone();
        value.edit(|facts| facts.apis.clear());
        value
    }

    /// `[value, setValue]` of a component's state: what is set is what is read.
    fn state_pair(&mut self, site: &Site<'p>) -> Value {
        let setter = self.root_value(&format!("setter#{}", site.id.0), site.place);
        let apis = setter.apis().to_vec();
        let settled = self.follow(&apis, Edge::Call, site.place);
        let mut state = site.values.first().cloned().unwrap_or_default().join(&settled);
        state.edit(|facts| {
            facts.apis.clear();
            facts.functions.clear();
        });
        let (zero, one) = (self.names.intern("0"), self.names.intern("1"));
        Value::default().with_field(zero, state).with_field(one, setter)
    }

    fn is_setter(&self, site: &Site<'p>) -> bool {
        self.has_root(site, "setter#")
    }

    fn is_resolver(&self, site: &Site<'p>) -> bool {
        self.has_root(site, "promise#")
    }

    fn has_root(&self, site: &Site<'p>, prefix: &str) -> bool {
        site.callee.apis().iter().any(|api| match self.apis.edge(*api) {
            Edge::Name(name) => self.names.text(name).starts_with(prefix),
            _ => false,
        })
    }

    fn settle(&mut self, site: &Site<'p>, value: Value) {
        for api in site.callee.apis().to_vec() {
            if let Some(result) = self.apis.child(api, Edge::Call) {
                let joined =
                    self.heap.get(&result).map_or_else(|| value.clone(), |old| old.join(&value));
                self.heap.insert(result, joined);
            }
        }
    }

    /// Whether a call is one of a module's functions.
    fn is_module(&mut self, site: &Site<'p>, module: &str) -> bool {
        let module = self.names.intern(module);
        let root = self.apis.root(module);
        let holder = site.receiver.as_ref().map(|(_, holder)| holder);
        holder.is_some_and(|holder| holder.apis().iter().any(|api| Some(*api) == root))
    }

    /// `new RegExp("x", "g")` is a pattern when its text is known.
    fn pattern(&mut self, site: &Site<'p>) -> Option<Value> {
        let body = site.values.first()?;
        let flags = match site.values.get(1).map(|flags| flags.text()) {
            None => "".into(),
            Some(Some(flags)) => flags.clone(),
            Some(None) => "?".into(),
        };
        match body.known() {
            Known::Pattern(body, own) => {
                let flags = if site.values.len() > 1 { flags } else { own.clone() };
                Some(Value::of_known(Known::Pattern(body.clone(), flags)))
            }
            _ => body.text().map(|text| Value::of_known(Known::Pattern(text.clone(), flags))),
        }
    }

    /// Methods that lists, texts and promises have in common.
    pub(super) fn method_call(&mut self, site: &Site<'p>) -> Option<Value> {
        let name = self.names.text(site.name?).to_owned();
        let makes_pattern = match name.as_str() {
            "RegExp" => self.is_javascript(),
            "compile" => self.is_module(site, "re"),
            _ => false,
        };
        if makes_pattern {
            return self.pattern(site);
        }
        let (object, holder) = site.receiver.clone()?;
        if self.has_callback(site)
            && !name.starts_with("replace")
            && let Some(value) = self.walk(site, &name, &holder)
        {
            return Some(value);
        }
        if matches!(name.as_str(), "replace" | "replaceAll") && !holder.deep_taints().is_empty() {
            return self.replaced(site, &name, &holder);
        }
        if matches!(name.as_str(), "sub" | "subn") && self.language == Language::Python {
            return self.substituted(site, &holder);
        }
        match name.as_str() {
            "then" | "catch" | "finally" if self.is_javascript() => Some(holder),
            "push" | "unshift" | "append" | "add" | "insert" | "extend" | "addAll" | "put"
            | "appendleft" | "set" | "update" | "write" | "setdefault" => {
                self.add_to(site, object, &holder);
                None
            }
            "join" | "concat" | "reverse" | "slice" | "sort" | "flat" | "pop" | "shift"
            | "values" | "toString" | "splice" | "copy" | "items" | "at" | "items_list"
            | "filter" => self.list_method(site, &name, &holder),
            "get" => self.lookup(site, &holder),
            _ => None,
        }
    }

    pub(super) fn has_callback(&self, site: &Site<'p>) -> bool {
        site.values.iter().any(|value| !value.functions().is_empty())
    }

    /// Walks a list or waits for a promise with a function.
    fn walk(&mut self, site: &Site<'p>, name: &str, holder: &Value) -> Option<Value> {
        let (first, second) = match name {
            "then" => (holder.clone(), None),
            "map" | "forEach" | "each" | "filter" | "find" | "findIndex" | "findLast" | "some"
            | "every" | "flatMap" | "sort" | "subscribe" | "tap" => {
                (self.element_of(holder, site.place), None)
            }
            "reduce" | "reduceRight" => {
                let start = site.values.get(1).cloned().unwrap_or_default();
                (start, Some(self.element_of(holder, site.place)))
            }
            _ => return None,
        };
        let pointless = first.facts().is_none() && second.is_none();
        if pointless || (name != "then" && self.is_library(holder)) {
            return None;
        }
        let mut values = vec![Some(first.clone())];
        values.extend(second.map(Some));
        let callback = site.values.first().cloned().unwrap_or_default();
        let called = self.run_with(&callback, &values, site);
        for extra in site.values.iter().skip(1) {
            self.run_with(extra, &[], site);
        }
        Some(match name {
            "map" | "flatMap" => {
                let list = Value::default();
                self.with_element(&list, called)
            }
            "then" | "reduce" | "reduceRight" => called,
            "find" | "findLast" => first,
            "filter" | "sort" | "tap" => holder.clone(),
            _ => Value::default(),
        })
    }

    /// Whether a value is a part of a library, and so no list of ours.
    fn is_library(&self, value: &Value) -> bool {
        value.taints().is_empty() && value.field_map().is_none() && !value.apis().is_empty()
    }

    fn add_to(&mut self, site: &Site<'p>, object: ExprId, holder: &Value) {
        let Some(spot) = self.spot(object) else { return };
        let mut changed = holder.clone();
        for value in &site.values {
            if value.facts().is_some_and(|facts| {
                !facts.taints.is_empty()
                    || !facts.literals.is_empty()
                    || facts.fields.is_some()
                    || !facts.functions.is_empty()
            }) {
                changed = self.with_element(&changed, value.clone());
            }
        }
        self.store(&spot, changed, site.place);
    }

    fn list_method(&mut self, site: &Site<'p>, name: &str, holder: &Value) -> Option<Value> {
        if holder.facts().is_none()
            && site.values.iter().all(|value| value.deep_taints().is_empty())
        {
            return None;
        }
        if self.is_library(holder) && name != "concat" {
            return None;
        }
        match name {
            "join" if self.language == Language::Python => {
                let list = site.values.first().cloned().unwrap_or_default();
                Some(self.joined_by(&list, holder))
            }
            "join" => {
                let separator = site.values.first().cloned().unwrap_or_default();
                Some(self.joined_by(holder, &separator))
            }
            "concat" => Some(self.concatenated(site, holder)),
            "pop" | "shift" | "at" => Some(self.element_of(holder, site.place)),
            "toString" if holder.field_map().is_none() => None,
            _ => {
                let mut value = holder.clone();
                value.edit(|facts| facts.known = Known::Nothing);
                if holder.field_map().is_none() { None } else { Some(value) }
            }
        }
    }

    /// The items of a list in a row, with a text between them.
    fn joined_by(&mut self, list: &Value, separator: &Value) -> Value {
        let items: Vec<Value> = match list.field_map() {
            Some(fields) => fields.values().cloned().collect(),
            None => vec![list.inherited()],
        };
        let mut parts = Vec::new();
        for item in items {
            if !parts.is_empty() {
                parts.push(separator.clone());
            }
            parts.push(item);
        }
        self.joined(&parts)
    }

    /// `concat` joins texts and lists alike.
    fn concatenated(&mut self, site: &Site<'p>, holder: &Value) -> Value {
        if holder.field_map().is_some() {
            let mut list = holder.clone();
            for value in &site.values {
                let element = if value.field_map().is_some() {
                    self.element_of(value, site.place)
                } else {
                    value.clone()
                };
                list = self.with_element(&list, element);
            }
            return list;
        }
        let mut parts = vec![holder.clone()];
        parts.extend(site.values.iter().cloned());
        self.joined(&parts)
    }

    /// `map.get("key")` of something whose fields are known.
    fn lookup(&mut self, site: &Site<'p>, holder: &Value) -> Option<Value> {
        holder.field_map()?;
        let key = site.values.first().cloned().unwrap_or_default();
        if let Some(name) = self.constant_key(&key) {
            return holder.own_field(name).cloned();
        }
        let mut value = self.element_of(holder, site.place);
        let chosen = self.chosen_by(&key);
        value.add_taints(&chosen);
        Some(value)
    }

    /// The text of an expression when it is a plain literal.
    pub(super) fn literal_text(&self, id: ExprId) -> Option<&'p str> {
        match self.expression(id) {
            Expression::Text(text) => Some(text),
            _ => None,
        }
    }
}

fn is_callable(value: &Value) -> bool {
    !value.functions().is_empty() || !value.apis().is_empty()
}
