//! A Redis connection for `labkit-ratelimit`, for hosts that have no Redis client of their own to lend.
//!
//! **Promise.** A limiter on a [`NativeRedis`] decides as on any other connection, and never waits longer than
//! its deadline: one server, a master behind Sentinel, or a Cluster; over TCP, TLS or a unix socket.
//!
//! ```no_run
//! use labkit_ratelimit::{CallOptions, Limiter, RuleSpec, Value};
//! use labkit_ratelimit_native::{NativeRedis, Server};
//! use std::sync::Arc;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let redis = Arc::new(NativeRedis::new(Server::parse("redis://:secret@10.0.0.1:6379/2")?)?);
//! let limiter = Limiter::builder("sign_in")
//!     .rule(RuleSpec::limit("per_ip", 2, 60).characteristics(["ip"]))
//!     .redis(redis.clone(), redis.options())
//!     .build()?;
//! let identifier = [("ip", Value::from("198.18.0.1"))];
//!
//! // Where a thread may wait:
//! assert!(limiter.check(&identifier).is_allowed());
//! // Where it may not:
//! assert!(redis.check(&limiter, &identifier, CallOptions::default()).await.is_allowed());
//! # Ok(())
//! # }
//! ```
//!
//! **Invariants.**
//! - A call goes out by its script's digest; only a server that does not know it gets the text, once.
//! - A call of unknown fate is never sent twice. A redirection within a cluster says that it was not run.
//! - The deadline of [`labkit_ratelimit::RedisOptions`] covers connecting and waiting. Connecting that takes
//!   longer goes on behind it, once for all who wait.
//! - All calls share one connection (on a cluster one for each node). One that breaks is replaced by the next
//!   call; one that says nothing until a deadline, or whose server became a replica, is replaced too, and a
//!   master is then asked for anew.
//! - After a fork the child starts a runtime and connection of its own with its first call, and leaves the
//!   parent's alone.
//! - No user name and no password is shown by `Debug`, `Display` or an error.
//!
//! **Absent on purpose.** Retries: what a failed check answers is the limiter's
//! [`on_error`](labkit_ratelimit::OnError). Reads from replicas: their counts are late. A pool: one connection
//! carries more calls than a server can answer. Switching certificate checks off. A way to run other commands.
//!
//! **Limits.** While a slot of a cluster is being moved, the cluster itself refuses (`TRYAGAIN`) calls about two
//! keys of which one is not there yet: those of rules with a ban. They fail until it is moved. A fork in the
//! microseconds in which another thread holds a lock of the memory allocator or of this crate's dependencies
//! is as dangerous as in any threaded program.

mod address;
mod builder;
mod cluster;
mod dial;
mod error;
mod fault;
mod flight;
mod link;
mod native;
mod process;
mod request;
mod route;
mod sentinel;
mod server;
mod slot_map;
mod tls;
mod url;
mod wire;

pub use builder::Builder;
pub use error::{ConfigError, ConfigErrorKind};
pub use native::NativeRedis;
pub use server::Server;
pub use tls::Tls;
