//! Message passing between ranks.
