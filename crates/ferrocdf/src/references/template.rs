//! Templates of references, and the keys that are generated of them: the part of Jinja that the specification uses.
//!
//! Between `{{` and `}}` stand names, integers, texts in quotes, `+ - * // %`, brackets, and calls of templates with named
//! arguments. Anything else is an error that shows it.

use std::cell::Cell;
use std::collections::BTreeMap;

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_zarr::{Json, Members};

/// Most keys that are generated: a short text could make any number, and each takes some hundred bytes.
const MAX_GENERATED: u64 = 1 << 20;

/// Most bytes of their keys and URLs, and of all URLs that templates are filled into.
pub(super) const MAX_BYTES: usize = 128 << 20;

/// Most bytes of all texts that templates are filled into: a short text with a long expression could make any number of them, and each
/// takes time.
const MAX_SOURCE: usize = 256 << 20;

/// Most bytes of one text in which templates are filled in.
const MAX_TEXT: usize = 1 << 16;

/// Greatest depth of brackets.
const MAX_DEPTH: usize = 50;

/// Texts by their names, to be filled in.
#[derive(Clone, Debug, Default)]
pub(super) struct Templates {
    texts: BTreeMap<String, String>,
    /// Bytes of the texts that were rendered.
    rendered: Cell<usize>,
}

/// The value of an expression.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Integer(i64),
    Text(String),
}

impl Value {
    fn into_text(self) -> String {
        match self {
            Value::Integer(number) => number.to_string(),
            Value::Text(text) => text,
        }
    }
}

type Variables = BTreeMap<String, Value>;

impl Templates {
    /// Parses the member `templates`.
    pub(super) fn parse(value: &Json) -> Result<Templates> {
        let template = |(name, value): (&str, &Json)| match value.as_str() {
            Some(text) => Ok((name.to_string(), text.to_string())),
            None => Err(wrong(format!("template {name} is not a text"))),
        };
        let texts: BTreeMap<String, String> =
            members("templates", value)?.iter().map(template).collect::<Result<_>>()?;
        Ok(Templates { texts, rendered: Cell::new(0) })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Fills the templates into a text.
    ///
    /// # Errors
    /// Those of an expression that has no value; that of texts of more than [`MAX_SOURCE`] bytes in all.
    pub(super) fn render(&self, text: &str) -> Result<String> {
        self.render_with(text, &Variables::new())
    }

    fn render_with(&self, text: &str, variables: &Variables) -> Result<String> {
        self.count(text)?;
        let (mut rendered, mut rest) = (String::new(), text);
        while let Some((before, behind)) = rest.split_once("{{") {
            rendered.push_str(before);
            let (expression, behind) =
                behind.split_once("}}").ok_or_else(|| wrong(format!("{text:?}: \"{{{{\" has no end")))?;
            let mut parser = ExpressionParser { text: expression, at: 0, templates: self, variables };
            let value = parser.whole().map_err(|what| failed(expression, what))?;
            rendered.push_str(&value.into_text());
            if rendered.len() > MAX_TEXT {
                return Err(failed(expression, format!("it makes a text of more than {MAX_TEXT} bytes")));
            }
            rest = behind;
        }
        Ok(rendered + rest)
    }

    /// Counts the bytes of a text that is rendered.
    fn count(&self, text: &str) -> Result<()> {
        self.rendered.set(self.rendered.get().saturating_add(text.len()));
        match self.rendered.get() > MAX_SOURCE {
            true => Err(wrong(format!("templates are filled into texts of more than {MAX_SOURCE} bytes"))),
            false => Ok(()),
        }
    }
}

fn failed(expression: &str, what: String) -> Error {
    wrong(format!("\"{{{{{expression}}}}}\": {what}"))
}

/// An expression that is being evaluated.
struct ExpressionParser<'a> {
    text: &'a str,
    at: usize,
    templates: &'a Templates,
    variables: &'a Variables,
}

type Evaluated = std::result::Result<Value, String>;

impl<'a> ExpressionParser<'a> {
    fn whole(&mut self) -> Evaluated {
        let value = self.sum(0)?;
        match self.rest() {
            "" => Ok(value),
            rest => Err(format!("{rest:?} is not understood")),
        }
    }

    fn rest(&mut self) -> &'a str {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        rest
    }

    /// Skips a text, if it is the next one.
    fn skips(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    fn sum(&mut self, depth: usize) -> Evaluated {
        let mut value = self.product(depth)?;
        loop {
            value = match () {
                () if self.skips("+") => compute(value, self.product(depth)?, i64::checked_add)?,
                () if self.skips("-") => compute(value, self.product(depth)?, i64::checked_sub)?,
                () => return Ok(value),
            };
        }
    }

    fn product(&mut self, depth: usize) -> Evaluated {
        let mut value = self.single(depth)?;
        loop {
            value = match () {
                () if self.skips("*") => compute(value, self.single(depth)?, i64::checked_mul)?,
                () if self.skips("//") => compute(value, self.single(depth)?, floor_division)?,
                () if self.skips("%") => compute(value, self.single(depth)?, |a, b| {
                    a.checked_sub(floor_division(a, b)?.checked_mul(b)?)
                })?,
                () => return Ok(value),
            };
        }
    }

    fn single(&mut self, depth: usize) -> Evaluated {
        if depth > MAX_DEPTH {
            return Err("too many brackets".to_string());
        }
        if self.skips("-") {
            return compute(Value::Integer(0), self.single(depth + 1)?, i64::checked_sub);
        }
        if self.skips("(") {
            let value = self.sum(depth + 1)?;
            return if self.skips(")") { Ok(value) } else { Err("a bracket has no end".to_string()) };
        }
        for quote in ["'", "\""] {
            if self.skips(quote) {
                let text = self.text[self.at..].split_once(quote).map(|(text, _)| text);
                let text = text.ok_or("a text in quotes has no end")?;
                self.at += text.len() + quote.len();
                return Ok(Value::Text(text.to_string()));
            }
        }
        let rest = self.rest();
        let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
        let word = &rest[..end];
        self.at += end;
        if word.starts_with(|letter: char| letter.is_ascii_digit()) {
            return word.parse().map(Value::Integer).map_err(|_| format!("{word:?} is not an integer"));
        }
        if self.skips("(") {
            return self.call(word, depth);
        }
        if let Some(value) = self.variables.get(word) {
            return Ok(value.clone());
        }
        self.template(word).map(|template| Value::Text(template.to_string()))
    }

    /// Returns the text of a template, and counts it.
    fn template(&self, name: &str) -> std::result::Result<&'a str, String> {
        let templates = self.templates;
        let template = templates.texts.get(name).ok_or_else(|| format!("{name:?} is not a name"))?;
        templates.count(template).map_err(|error| error.what.to_string())?;
        Ok(template)
    }

    /// Evaluates the arguments of a template, and fills them in.
    fn call(&mut self, name: &str, depth: usize) -> Evaluated {
        let template = self.template(name)?;
        let mut arguments = Variables::new();
        while !self.skips(")") {
            let rest = self.rest();
            let (argument, _) = rest.split_once('=').ok_or("an argument needs a name and a value")?;
            self.at += argument.len() + 1;
            let value = self.sum(depth + 1)?;
            arguments.insert(argument.trim().to_string(), value);
            if !self.skips(",") && !self.rest().starts_with(')') {
                return Err("a comma or the closing bracket is expected".to_string());
            }
        }
        // A template sees its arguments alone.
        let filled = Templates::default().render_with(template, &arguments);
        filled.map(Value::Text).map_err(|error| error.what.to_string())
    }
}

/// Returns the greatest integer that is not above the quotient, as Python does.
fn floor_division(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    let is_below = a % b != 0 && (a < 0) != (b < 0);
    Some(quotient - i64::from(is_below))
}

fn compute(a: Value, b: Value, with: impl Fn(i64, i64) -> Option<i64>) -> Evaluated {
    match (a, b) {
        (Value::Integer(a), Value::Integer(b)) => {
            with(a, b).map(Value::Integer).ok_or_else(|| "the result is no integer of 64 bits".to_string())
        }
        _ => Err("texts are no numbers".to_string()),
    }
}

/// A generated reference.
pub(super) struct Generated {
    pub(super) key: String,
    pub(super) url: String,
    /// Offset and length.
    pub(super) range: Option<(u64, u64)>,
}

/// Calls `add` with each reference that the members of `gen` make.
///
/// # Errors
/// Those of the expressions and of `add`; that of more keys than [`MAX_GENERATED`].
pub(super) fn generate(
    generators: &[Json],
    templates: &Templates,
    add: &mut dyn FnMut(Generated) -> Result<()>,
) -> Result<()> {
    let (mut left, mut bytes) = (MAX_GENERATED, 0);
    let too_many = || wrong(format!("\"gen\" makes more than {MAX_GENERATED} keys, or too long ones"));
    for generator in generators {
        let text = |name: &str| generator.get(name).and_then(Json::as_str);
        let need = |name: &str| text(name).ok_or_else(|| wrong(format!("\"gen\" has no \"{name}\"")));
        let (key, url) = (need("key")?, need("url")?);
        let range = match (text("offset"), text("length")) {
            (Some(offset), Some(length)) => Some((offset, length)),
            (None, None) => None,
            _ => return Err(wrong("\"gen\" has \"offset\" or \"length\" without the other one")),
        };
        let dimensions = members("dimensions", generator.get("dimensions").unwrap_or(&Json::Null))?;
        let dimensions =
            dimensions.iter().map(|(name, value)| Ok((name, GeneratorVariable::parse(name, value)?)));
        let dimensions: Vec<(&str, GeneratorVariable)> = dimensions.collect::<Result<_>>()?;
        let count = dimensions.iter().try_fold(1u64, |all, (_, dimension)| all.checked_mul(dimension.len()));
        let count = count.filter(|&count| count <= left).ok_or_else(too_many)?;
        left -= count;
        for number in 0..count {
            let (mut rest, mut variables) = (number, Variables::new());
            for (name, dimension) in dimensions.iter().rev() {
                variables.insert(name.to_string(), Value::Integer(dimension.at(rest % dimension.len())));
                rest /= dimension.len();
            }
            let render = |text: &str| templates.render_with(text, &variables);
            let integer = |text: &str| {
                let text = render(text)?;
                text.trim().parse::<u64>().map_err(|_| wrong(format!("{text:?} is no offset or length")))
            };
            let range = range.map(|(offset, length)| Ok((integer(offset)?, integer(length)?))).transpose()?;
            let generated = Generated { key: render(key)?, url: render(url)?, range };
            bytes += generated.key.len() + generated.url.len();
            if bytes > MAX_BYTES {
                return Err(too_many());
            }
            add(generated)?;
        }
    }
    Ok(())
}

/// The values of a variable of a generator.
enum GeneratorVariable {
    List(Vec<i64>),
    Steps { start: i64, step: i64, count: u64 },
}

impl GeneratorVariable {
    fn parse(name: &str, value: &Json) -> Result<GeneratorVariable> {
        let integer = |value: &Json| value.as_integer().and_then(|number| i64::try_from(number).ok());
        let wrong_value = || wrong(format!("dimension {name} is neither a list of integers nor a range"));
        if let Some(list) = value.as_array() {
            return list
                .iter()
                .map(integer)
                .collect::<Option<_>>()
                .map(GeneratorVariable::List)
                .ok_or_else(wrong_value);
        }
        let part = |name: &str, default| value.get(name).map_or(default, integer);
        let (start, stop, step) = (part("start", Some(0)), part("stop", None), part("step", Some(1)));
        let (Some(start), Some(stop), Some(step)) = (start, stop, step) else { return Err(wrong_value()) };
        let distance = if step > 0 { stop.checked_sub(start) } else { start.checked_sub(stop) };
        let (Some(distance), false) = (distance, step == 0) else { return Err(wrong_value()) };
        let count = u64::try_from(distance).unwrap_or(0).div_ceil(step.unsigned_abs());
        Ok(GeneratorVariable::Steps { start, step, count })
    }

    fn len(&self) -> u64 {
        match self {
            GeneratorVariable::List(list) => list.len() as u64,
            GeneratorVariable::Steps { count, .. } => *count,
        }
    }

    /// Returns a value; its number is less than [`GeneratorVariable::len`].
    fn at(&self, number: u64) -> i64 {
        match self {
            GeneratorVariable::List(list) => {
                usize::try_from(number).ok().and_then(|at| list.get(at).copied()).unwrap_or(0)
            }
            // Within the range, whose ends are 64-bit integers.
            GeneratorVariable::Steps { start, step, .. } => {
                start.wrapping_add(step.wrapping_mul(number.cast_signed()))
            }
        }
    }
}

/// Returns the members of an object.
fn members<'a>(name: &str, value: &'a Json) -> Result<&'a Members> {
    value.as_object().ok_or_else(|| wrong(format!("\"{name}\" is not an object")))
}

/// Returns the error of a text that is not one of references.
pub(super) fn wrong(what: impl Into<String>) -> Error {
    Error::new(Code::ENOTNC, what.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_have_the_values_of_python() {
        let templates =
            Templates::parse(&Json::parse(br#"{"u": "s3://b", "f": "{{c}}-{{n * 2}}"}"#).unwrap());
        let templates = templates.unwrap();
        let variables = Variables::from([("i".to_string(), Value::Integer(7))]);
        let render = |text: &str| templates.render_with(text, &variables);
        for (text, wanted) in [
            ("{{u}}/a", "s3://b/a"),
            ("{{ i + 2 * 3 }}", "13"),
            ("{{(i+2)*3}}{{i}}", "277"),
            ("{{ i // 2 }} {{ -i // 2 }} {{ i % 4 }} {{ -i % 4 }}", "3 -4 3 1"),
            ("{{f(c='x', n=i - 1)}}", "x-12"),
            ("{{ f ( c = \"x\" , n = (1) ) }}", "x-2"),
            ("no template }}", "no template }}"),
        ] {
            assert_eq!(render(text).unwrap(), wanted, "{text}");
        }
        let deep = format!("{{{{{}1}}}}", "(".repeat(1000));
        for text in [
            "{{i",
            "{{j}}",
            "{{g(c=1)}}",
            "{{f(c)}}",
            "{{f(c=1}}",
            "{{i / 2}}",
            "{{i // 0}}",
            "{{i % 0}}",
            "{{u + 1}}",
            "{{'a}}",
            "{{(1}}",
            "{{9223372036854775807 + 1}}",
            "{{i|format}}",
            "{{}}",
            &deep,
        ] {
            assert!(render(text).is_err(), "{text}");
        }
    }

    #[test]
    fn generated_keys_are_the_product_of_the_dimensions() {
        let keys = |text: &str| {
            let generator = Json::parse(text.as_bytes()).unwrap();
            let mut keys = vec![];
            generate(&[generator], &Templates::default(), &mut |generated| {
                keys.push(generated.key);
                Ok(())
            })
            .map(|()| keys)
        };
        let with = |dimensions: &str| {
            keys(&format!(r#"{{"key": "{{{{i}}}}.{{{{j}}}}", "url": "u", "dimensions": {dimensions}}}"#))
        };
        let found = with(r#"{"i": [5, 3], "j": {"start": 4, "stop": -1, "step": -2}}"#).unwrap();
        assert_eq!(found, ["5.4", "5.2", "5.0", "3.4", "3.2", "3.0"]);
        assert_eq!(with(r#"{"i": [1], "j": {"stop": 0}}"#).unwrap(), [""; 0]);
        for dimensions in [
            r#"{"i": {"stop": 1000000}, "j": {"stop": 1000000}}"#,
            r#"{"i": {"start": -9223372036854775808, "stop": 9223372036854775807}, "j": [1]}"#,
            r#"{"i": {"stop": 5, "step": 0}, "j": [1]}"#,
            r#"{"i": {"start": 5}, "j": [1]}"#,
            r#"{"i": ["a"], "j": [1]}"#,
            r#"{"i": [1]}"#,
            "1",
        ] {
            assert!(with(dimensions).is_err(), "{dimensions}");
        }
        assert!(keys(r#"{"key": "k", "url": "u", "offset": "1", "dimensions": {}}"#).is_err());
    }

    #[test]
    fn long_expressions_are_not_evaluated_any_number_of_times() {
        let long = " ".repeat(1 << 20);
        let expression = format!("{{{{i{long}}}}}");
        let in_call = format!("{{\"f\": \"{{{{c{long}}}}}\"}}");
        let templates = Templates::parse(&Json::parse(in_call.as_bytes()).unwrap()).unwrap();
        for (offset, templates) in [(&*expression, Templates::default()), ("{{f(c=i)}}", templates)] {
            let generator = format!(
                r#"{{"key": "{{{{i}}}}", "url": "u", "offset": "{offset}", "length": "1", "dimensions": {{"i": {{"stop": 1000}}}}}}"#
            );
            let generator = Json::parse(generator.as_bytes()).unwrap();
            let mut count = 0;
            let done = generate(&[generator], &templates, &mut |generated| {
                assert_eq!(generated.range, Some((count, 1)));
                count += 1;
                Ok(())
            });
            assert!(done.unwrap_err().to_string().contains("more than 268435456 bytes"));
            assert_eq!(count, 255);
        }
    }
}
