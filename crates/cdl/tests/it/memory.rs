//! A dataset in memory.

use std::collections::HashMap;

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_cdl::print::{PrintFailure, PrintOptions, PrintSource, print_cdl, print_ncml};
use ferrocdf_model::{Attr, Model, Owner, Values, VarId, each_values};

/// A model, and the values of its variables.
pub struct Memory {
    pub model: Model,
    pub values: HashMap<VarId, Values>,
    pub hidden: Vec<Attr>,
}

impl Memory {
    pub fn new(model: Model) -> Self {
        Memory { model, values: HashMap::new(), hidden: vec![] }
    }

    pub fn cdl(&self, options: &PrintOptions) -> String {
        let mut out = vec![];
        print_cdl(self, options, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    pub fn ncml(&self, options: &PrintOptions) -> String {
        let mut out = vec![];
        print_ncml(self, options, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    pub fn refusal(&self, options: &PrintOptions) -> String {
        match print_cdl(self, options, &mut vec![]) {
            Err(PrintFailure::Refused(message)) => String::from_utf8(message).unwrap(),
            other => panic!("{other:?}"),
        }
    }
}

impl PrintSource for Memory {
    fn model(&self) -> &Model {
        &self.model
    }

    fn read(&self, var: VarId, start: &[u64], count: &[u64]) -> Result<Values> {
        let missing = || Error::new(Code::EIO, "no values here");
        let mut values = self.values.get(&var).ok_or_else(missing)?.clone();
        let shape = self.model.shape(var);
        let mut keep = vec![];
        let total: u64 = shape.iter().product();
        for at in 0..total {
            let mut rest = at;
            let inside = (0..shape.len()).rev().all(|axis| {
                let index = rest % shape[axis];
                rest /= shape[axis];
                (start[axis]..start[axis] + count[axis]).contains(&index)
            });
            keep.push(inside);
        }
        each_values!(&mut values, list => {
            let mut at = 0;
            list.retain(|_| {
                at += 1;
                keep[at - 1]
            });
        });
        Ok(values)
    }

    fn hidden(&self, owner: Owner) -> Vec<Attr> {
        match owner {
            Owner::Group(_) => self.hidden.clone(),
            Owner::Var(_) => vec![],
        }
    }
}
