//! Many ranks as threads of one process: the same program paths as under MPI, without MPI.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use super::{Buffers, Communicator, Exchange, MessageSpec};

/// Waiting messages, keyed by (source, destination, tag).
type Mail = HashMap<(usize, usize, i32), VecDeque<Vec<u8>>>;

/// Tags from here on belong to the collective calls.
const COLLECTIVE: i32 = 1 << 24;

#[derive(Default)]
struct Post {
    mail: Mail,
    aborted: Option<i32>,
}

struct Room {
    post: Mutex<Post>,
    arrived: Condvar,
    size: usize,
}

impl Room {
    fn lock(&self) -> MutexGuard<'_, Post> {
        // A rank that panicked while holding the lock leaves the mail intact.
        let post = self.post.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(code) = post.aborted {
            drop(post);
            panic!("another rank aborted the run with code {code}");
        }
        post
    }

    fn send(&self, from: usize, to: usize, tag: i32, bytes: Vec<u8>) {
        self.lock().mail.entry((from, to, tag)).or_default().push_back(bytes);
        self.arrived.notify_all();
    }

    fn receive(&self, from: usize, to: usize, tag: i32) -> Vec<u8> {
        let mut post = self.lock();
        loop {
            if let Some(bytes) = post.mail.get_mut(&(from, to, tag)).and_then(VecDeque::pop_front) {
                return bytes;
            }
            post = self.arrived.wait(post).unwrap_or_else(|poisoned| poisoned.into_inner());
            if let Some(code) = post.aborted {
                drop(post);
                panic!("another rank aborted the run with code {code}");
            }
        }
    }
}

/// One rank of an in-process run.
#[derive(Clone)]
pub struct ThreadRank {
    room: Arc<Room>,
    rank: usize,
}

/// Runs `body` on `size` ranks, each on its own thread, and returns their results in rank order.
///
/// # Panics
/// Panics if a rank panics; the other ranks are released from their waits first.
pub fn run<T: Send>(size: usize, body: impl Fn(ThreadRank) -> T + Sync) -> Vec<T> {
    let room = Arc::new(Room { post: Mutex::default(), arrived: Condvar::new(), size });
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..size)
            .map(|rank| {
                let rank = ThreadRank { room: room.clone(), rank };
                let body = &body;
                scope.spawn(move || {
                    let _guard = AbortOnPanic(rank.room.clone());
                    body(rank)
                })
            })
            .collect();
        handles
            .into_iter()
            .map(|handle| handle.join().unwrap_or_else(|payload| std::panic::resume_unwind(payload)))
            .collect()
    })
}

struct AbortOnPanic(Arc<Room>);

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut post = self.0.post.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            post.aborted.get_or_insert(1);
            self.0.arrived.notify_all();
        }
    }
}

struct ThreadExchange {
    rank: ThreadRank,
    sends: Vec<MessageSpec>,
    receives: Vec<MessageSpec>,
    outgoing: Buffers,
    incoming: Buffers,
}

impl Exchange for ThreadExchange {
    fn send_buffer(&mut self, n: usize) -> &mut [u8] {
        self.outgoing.get_mut(n)
    }
    fn post(&mut self) {
        for (n, spec) in self.sends.iter().enumerate() {
            self.rank.room.send(self.rank.rank, spec.peer, spec.tag, self.outgoing.get(n).to_vec());
        }
    }
    fn wait(&mut self) {
        for (n, spec) in self.receives.iter().enumerate() {
            let bytes = self.rank.room.receive(spec.peer, self.rank.rank, spec.tag);
            self.incoming.get_mut(n).copy_from_slice(&bytes);
        }
    }
    fn receive_buffer(&self, n: usize) -> &[u8] {
        self.incoming.get(n)
    }
}

impl ThreadRank {
    /// Rank 0 combines what all ranks sent and returns the result to all of them.
    fn combine(&self, bytes: Vec<u8>, combine: impl FnOnce(Vec<Vec<u8>>) -> Vec<u8>) -> Vec<u8> {
        let combined = self.gather(&bytes).map(combine).unwrap_or_default();
        self.broadcast(combined)
    }

    fn reduce<V: bytemuck::Pod>(&self, values: &mut [V], merge: impl Fn(V, V) -> V) {
        let merged = self.combine(bytemuck::cast_slice(values).to_vec(), |all| {
            let mut total: Vec<V> = bytemuck::pod_collect_to_vec(&all[0]);
            for part in &all[1..] {
                let part: Vec<V> = bytemuck::pod_collect_to_vec(part);
                total.iter_mut().zip(part).for_each(|(t, p)| *t = merge(*t, p));
            }
            bytemuck::cast_slice(&total).to_vec()
        });
        let merged: Vec<V> = bytemuck::pod_collect_to_vec(&merged);
        values.copy_from_slice(&merged);
    }
}

impl Communicator for ThreadRank {
    fn rank(&self) -> usize {
        self.rank
    }
    fn size(&self) -> usize {
        self.room.size
    }
    fn barrier(&self) {
        self.combine(Vec::new(), |_| Vec::new());
    }
    fn sum_i64(&self, values: &mut [i64]) {
        self.reduce(values, i64::wrapping_add);
    }
    fn max_f64(&self, values: &mut [f64]) {
        self.reduce(values, f64::max);
    }
    fn gather(&self, bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
        self.room.send(self.rank, 0, COLLECTIVE, bytes.to_vec());
        (self.rank == 0).then(|| (0..self.room.size).map(|source| self.room.receive(source, 0, COLLECTIVE)).collect())
    }
    fn broadcast(&self, bytes: Vec<u8>) -> Vec<u8> {
        if self.rank == 0 {
            for rank in 1..self.room.size {
                self.room.send(0, rank, COLLECTIVE + 1, bytes.clone());
            }
            bytes
        } else {
            self.room.receive(0, self.rank, COLLECTIVE + 1)
        }
    }
    fn exchange(&self, sends: &[MessageSpec], receives: &[MessageSpec]) -> Box<dyn Exchange> {
        Box::new(ThreadExchange {
            rank: self.clone(),
            outgoing: Buffers::new(sends),
            incoming: Buffers::new(receives),
            sends: sends.to_vec(),
            receives: receives.to_vec(),
        })
    }
    fn abort(&self, code: i32) -> ! {
        self.room.post.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).aborted = Some(code);
        self.room.arrived.notify_all();
        panic!("rank {} aborted the run with code {code}", self.rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::agree;

    #[test]
    fn collectives_reach_every_rank() {
        let results = run(5, |comm| {
            let mut sums = [1, comm.rank() as i64];
            comm.sum_i64(&mut sums);
            let mut max = [comm.rank() as f64];
            comm.max_f64(&mut max);
            comm.barrier();
            (sums, max[0])
        });
        assert_eq!(results, vec![([5, 10], 4.0); 5]);
    }

    #[test]
    fn ring_exchange_repeats() {
        run(4, |comm| {
            let (left, right) = ((comm.rank() + 3) % 4, (comm.rank() + 1) % 4);
            let spec = |peer| MessageSpec { peer, tag: 7, bytes: 5 };
            let mut ring = comm.exchange(&[spec(right)], &[spec(left)]);
            for round in 0..3u8 {
                ring.send_buffer(0).fill(10 * comm.rank() as u8 + round);
                ring.post();
                ring.wait();
                assert_eq!(ring.receive_buffer(0), &[10 * left as u8 + round; 5]);
            }
        });
    }

    #[test]
    fn the_lowest_failing_rank_is_reported_everywhere() {
        let results = run(4, |comm| {
            let mine = if comm.rank() >= 2 { Err(format!("no file on {}", comm.rank())) } else { Ok(()) };
            agree(&comm, mine).unwrap_err().to_string()
        });
        assert_eq!(results, vec!["rank 2: no file on 2".to_string(); 4]);
    }

    #[test]
    fn a_panic_releases_waiting_ranks() {
        let outcome = std::panic::catch_unwind(|| {
            run(3, |comm| {
                assert!(comm.rank() != 1, "rank one fails");
                comm.barrier();
            })
        });
        assert!(outcome.is_err());
    }
}
