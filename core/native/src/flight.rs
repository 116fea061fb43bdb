//! One attempt at a time, shared by all who wait for it.

use labkit_ratelimit::Fault;
use std::sync::{Mutex, PoisonError};
use tokio::sync::watch;

/// One attempt at a time, shared by all who wait. It goes on behind a waiter who gave up, so that something
/// that takes longer than a deadline is had in the end.
pub(crate) struct Flight<T>(Mutex<Option<Outcome<T>>>);

type Outcome<T> = watch::Receiver<Option<Result<T, Fault>>>;

impl<T> Default for Flight<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T: Clone + Send + Sync + 'static> Flight<T> {
    /// What the last attempt brought, where it is `usable`.
    pub(crate) fn landed(&self, usable: impl Fn(&T) -> bool) -> Option<T> {
        let outcome = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*outcome.as_ref()?.borrow() {
            Some(Ok(value)) if usable(value) => Some(value.clone()),
            _ => None,
        }
    }

    /// What the last attempt brought, where it is `usable`; else what the one under way brings, or a new one.
    pub(crate) async fn get<F>(&self, usable: impl Fn(&T) -> bool, attempt: impl FnOnce() -> F) -> Result<T, Fault>
    where
        F: Future<Output = Result<T, Fault>> + Send + 'static,
    {
        let mut outcome = self.join(usable, attempt);
        let landed = outcome.wait_for(Option::is_some).await;
        landed.ok().and_then(|result| result.clone()).unwrap_or_else(|| Err(Fault::unreachable("connecting broke off")))
    }

    /// As [`Flight::get`], without waiting.
    pub(crate) fn join<F>(&self, usable: impl Fn(&T) -> bool, attempt: impl FnOnce() -> F) -> Outcome<T>
    where
        F: Future<Output = Result<T, Fault>> + Send + 'static,
    {
        let mut outcome = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = &*outcome {
            let goes_on = match &*last.borrow() {
                Some(Ok(value)) => usable(value),
                Some(Err(_)) => false,
                // An attempt that panicked left nothing behind.
                None => last.has_changed().is_ok(),
            };
            if goes_on {
                return last.clone();
            }
        }
        let (landing, next) = watch::channel(None);
        let attempt = attempt();
        tokio::spawn(async move {
            landing.send_replace(Some(attempt.await));
        });
        *outcome = Some(next.clone());
        next
    }
}
