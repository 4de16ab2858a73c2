//! One process, no messages.

use super::{Communicator, Exchange, MessageSpec};

/// The only rank of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Solo;

struct NoExchange;

impl Exchange for NoExchange {
    fn send_buffer(&mut self, _: usize) -> &mut [u8] {
        &mut []
    }
    fn post(&mut self) {}
    fn wait(&mut self) {}
    fn receive_buffer(&self, _: usize) -> &[u8] {
        &[]
    }
}

impl Communicator for Solo {
    fn rank(&self) -> usize {
        0
    }
    fn size(&self) -> usize {
        1
    }
    fn barrier(&self) {}
    fn sum_i64(&self, _: &mut [i64]) {}
    fn max_f64(&self, _: &mut [f64]) {}
    fn gather(&self, bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
        Some(vec![bytes.to_vec()])
    }
    fn gather_each(&self, bytes: &[u8], _: &[usize], _: &mut [u8], take: &mut dyn FnMut(usize, &[u8])) {
        take(0, bytes);
    }
    fn broadcast(&self, bytes: Vec<u8>) -> Vec<u8> {
        bytes
    }
    fn exchange(&self, sends: &[MessageSpec], receives: &[MessageSpec]) -> Box<dyn Exchange> {
        assert!(sends.is_empty() && receives.is_empty(), "a single rank has nobody to write to");
        Box::new(NoExchange)
    }
    fn abort(&self, code: i32) -> ! {
        std::process::exit(code)
    }
}
