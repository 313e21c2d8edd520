//! f-strings.

use ruff_python_ast::{
    ConversionFlag, ExprFString, FStringPart, InterpolatedElement, InterpolatedStringElement,
    InterpolatedStringElements,
};

use super::{Lowered, Lowering};
use crate::script::code::{Conversion, Op};
use crate::script::value::Value;

impl Lowering<'_> {
    pub(super) fn f_string(&mut self, it: &ExprFString) -> Lowered {
        let mut parts = 0;
        for part in it.value.iter() {
            match part {
                FStringPart::Literal(literal) => {
                    self.constant(Value::text(&literal.value));
                    parts += 1;
                }
                FStringPart::FString(string) => parts += self.elements(&string.elements)?,
            }
        }
        self.emit(Op::BuildText(parts));
        Ok(())
    }

    fn elements(
        &mut self,
        elements: &InterpolatedStringElements,
    ) -> Result<u32, super::ScriptError> {
        let mut parts = 0;
        for element in elements.iter() {
            match element {
                InterpolatedStringElement::Literal(literal) => {
                    self.constant(Value::text(&literal.value));
                    parts += 1;
                }
                InterpolatedStringElement::Interpolation(it) => parts += self.interpolation(it)?,
            }
        }
        Ok(parts)
    }

    fn interpolation(&mut self, it: &InterpolatedElement) -> Result<u32, super::ScriptError> {
        let mut parts = 1;
        if let Some(debug) = &it.debug_text {
            self.constant(Value::text(debug.as_str()));
            parts += 1;
        }
        self.expression(&it.expression)?;
        let conversion = match it.conversion {
            ConversionFlag::None if it.debug_text.is_some() && it.format_spec.is_none() => {
                Conversion::Repr
            }
            ConversionFlag::None => Conversion::None,
            ConversionFlag::Str => Conversion::Str,
            ConversionFlag::Repr => Conversion::Repr,
            ConversionFlag::Ascii => Conversion::Ascii,
        };
        if let Some(spec) = &it.format_spec {
            let spec_parts = self.elements(&spec.elements)?;
            self.emit(Op::BuildText(spec_parts));
        }
        self.emit(Op::Format {
            conversion,
            spec: it.format_spec.is_some(),
        });
        Ok(parts)
    }
}
