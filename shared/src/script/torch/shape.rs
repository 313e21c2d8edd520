//! Shapes and strides: broadcasting, views, what is contiguous.

/// A shape as PyTorch's messages print it.
pub(crate) fn text(shape: &[i64]) -> String {
    let sizes: Vec<String> = shape.iter().map(i64::to_string).collect();
    format!("[{}]", sizes.join(", "))
}

/// Elements; `None` beyond 63 bits.
pub(crate) fn numel(shape: &[i64]) -> Option<i64> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape
        .iter()
        .try_fold(1i64, |count, size| count.checked_mul(*size))
}

/// Strides of a tensor whose last dimension lies densest.
pub(crate) fn contiguous_strides(shape: &[i64]) -> Vec<i64> {
    let mut strides = vec![1i64; shape.len()];
    for at in (1..shape.len()).rev() {
        strides[at - 1] = strides[at].saturating_mul(shape[at].max(1));
    }
    strides
}

pub(crate) fn is_contiguous(shape: &[i64], strides: &[i64]) -> bool {
    if shape.contains(&0) {
        return true;
    }
    let mut expected = 1;
    for (size, stride) in shape.iter().zip(strides).rev() {
        if *size != 1 {
            if *stride != expected {
                return false;
            }
            expected *= size;
        }
    }
    true
}

/// Whether every element of a range of memory belongs to exactly one index.
pub(crate) fn is_dense(shape: &[i64], strides: &[i64]) -> bool {
    if numel(shape).is_some_and(|count| count < 2) {
        return true;
    }
    let mut dims: Vec<(i64, i64)> = strides.iter().copied().zip(shape.iter().copied()).collect();
    dims.sort_by_key(|(stride, size)| (if *size < 2 { i64::MAX } else { *stride }, *size));
    let mut expected = 1;
    for (stride, size) in dims {
        if size < 2 {
            return true;
        }
        if stride != expected {
            return false;
        }
        expected *= size;
    }
    true
}

/// The shape that both have after broadcasting; otherwise the sizes that differ, and where.
pub(crate) fn broadcast(a: &[i64], b: &[i64]) -> Result<Vec<i64>, (i64, i64, usize)> {
    let length = a.len().max(b.len());
    let mut result = vec![1; length];
    for back in 1..=length {
        let at = length - back;
        let size = |shape: &[i64]| shape.len().checked_sub(back).map_or(1, |at| shape[at]);
        let (x, y) = (size(a), size(b));
        result[at] = match (x, y) {
            (x, y) if x == y => x,
            (1, y) => y,
            (x, 1) => x,
            (x, y) => return Err((x, y, at)),
        };
    }
    Ok(result)
}

/// The strides that show the same memory in another shape; `None` where only a copy can.
pub(crate) fn view_strides(shape: &[i64], strides: &[i64], new: &[i64]) -> Option<Vec<i64>> {
    let count = numel(shape)?;
    if count == 0 {
        return Some(if shape == new {
            strides.to_vec()
        } else {
            contiguous_strides(new)
        });
    }
    if shape.is_empty() {
        return Some(vec![1; new.len()]);
    }
    let mut result = vec![0; new.len()];
    let mut view = new.len();
    let (mut chunk, mut chunk_view) = (1i64, 1i64);
    let mut base = *strides.last()?;
    for at in (0..shape.len()).rev() {
        chunk *= shape[at];
        let ends = at == 0 || (shape[at - 1] != 1 && strides[at - 1] != chunk.checked_mul(base)?);
        if !ends {
            continue;
        }
        while view > 0 && (chunk_view < chunk || new[view - 1] == 1) {
            view -= 1;
            result[view] = chunk_view * base;
            chunk_view *= new[view];
        }
        if chunk_view != chunk {
            return None;
        }
        if at > 0 {
            base = strides[at - 1];
            (chunk, chunk_view) = (1, 1);
        }
    }
    (view == 0).then_some(result)
}

/// Fills in a size of −1.
pub(crate) fn infer(new: &[i64], count: i64) -> Option<Vec<i64>> {
    let known: i64 = new
        .iter()
        .filter(|size| **size != -1)
        .try_fold(1i64, |a, b| a.checked_mul(*b))?;
    let unknown = new.iter().filter(|size| **size == -1).count();
    match unknown {
        0 if known == count => Some(new.to_vec()),
        1 if known > 0 && count % known == 0 => {
            let fill = |size: &i64| if *size == -1 { count / known } else { *size };
            Some(new.iter().map(fill).collect())
        }
        _ => None,
    }
}
