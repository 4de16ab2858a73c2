//! Conservation of mass by vertical physics on the globe (specification 30 §6.9).
