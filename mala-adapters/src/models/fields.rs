//! Reading JSON that others write: a field that is missing or of another type is not there.

use serde_json::Value;

/// The text at this path, or nothing.
pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The whole number at this path.
pub(crate) fn number(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer).and_then(Value::as_u64)
}

/// The list at this path, or an empty one.
pub(crate) fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Appends text to a text field, which is made when it is not there.
pub(crate) fn append(value: &mut Value, field: &str, more: &str) {
    if let Some(object) = value.as_object_mut() {
        match object.get_mut(field) {
            Some(Value::String(known)) => known.push_str(more),
            _ => {
                object.insert(field.to_owned(), Value::String(more.to_owned()));
            }
        }
    }
}

/// Appends to a list field, which is made when it is not there.
pub(crate) fn push(value: &mut Value, field: &str, item: Value) {
    if let Some(object) = value.as_object_mut() {
        match object.get_mut(field) {
            Some(Value::Array(known)) => known.push(item),
            _ => {
                object.insert(field.to_owned(), Value::Array(vec![item]));
            }
        }
    }
}
