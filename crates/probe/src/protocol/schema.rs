//! The JSON schema of the protocol's types, which the Python half is compared with.

use std::fs;
use std::path::Path;

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::protocol::{Answer, Request};

/// The path of the schema in the crate's folder.
const PLACE: &str = "src/protocol/schema.json";

/// The schema: requests as they are read, answers as they are written.
fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12();
    let requests = settings.clone().for_deserialize().into_generator();
    let answers = settings.for_serialize().into_generator();
    json!({
        "requests": requests.into_root_schema_for::<Request>(),
        "answers": answers.into_root_schema_for::<Answer>(),
    })
}

#[test]
fn the_schema_is_that_of_the_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PLACE);
    let text = serde_json::to_string_pretty(&schema()).expect("it is JSON") + "\n";
    if std::env::var_os("HARDCOST_WRITE_SCHEMA").is_some() {
        fs::write(&path, &text).expect("it can be written");
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == text, "rewrite {PLACE}: HARDCOST_WRITE_SCHEMA=1 cargo test schema");
}
