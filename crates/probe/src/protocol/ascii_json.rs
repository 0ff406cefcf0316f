//! JSON lines in pure ASCII, so that no program's output can disturb the stream of answers.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// Escapes DEL and everything beyond ASCII, which JSON itself allows.
struct Ascii;

impl Formatter for Ascii {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        text: &str,
    ) -> io::Result<()> {
        let mut rest = text;
        while let Some(at) = rest.find(|character: char| character >= '\x7f') {
            let (plain, special) = rest.split_at(at);
            out.write_all(plain.as_bytes())?;
            let mut characters = special.chars();
            for unit in
                characters.next().into_iter().flat_map(|c| c.encode_utf16(&mut [0; 2]).to_vec())
            {
                write!(out, "\\u{unit:04x}")?;
            }
            rest = characters.as_str();
        }
        out.write_all(rest.as_bytes())
    }
}

/// Writes a value as one line and flushes.
pub fn write_line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    let mut line = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut line, Ascii))?;
    line.push(b'\n');
    out.write_all(&line)?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::write_line;

    fn line(text: &str) -> String {
        let mut line = Vec::new();
        write_line(&mut line, &text).expect("memory takes it all");
        String::from_utf8(line).expect("ASCII is UTF-8")
    }

    #[test]
    fn text_beyond_ascii_is_escaped_as_utf_16() {
        assert_eq!(line("é€😀"), "\"\\u00e9\\u20ac\\ud83d\\ude00\"\n");
        assert_eq!(line("a\u{7f}b"), "\"a\\u007fb\"\n");
    }

    #[test]
    fn nothing_but_printable_ascii_leaves() {
        let all: String = (0..0x500).filter_map(char::from_u32).collect();
        let written = line(&all);
        assert!(written.trim_end_matches('\n').bytes().all(|byte| (0x20..0x7f).contains(&byte)));
        assert_eq!(serde_json::from_str::<String>(&written).expect("is JSON"), all);
    }
}
