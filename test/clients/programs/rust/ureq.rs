//! With rustls, and its own authorities.
#[path = "common.rs"]
mod common;

use common::{bearer, checked, file, run, show, url};
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};

fn main() {
    // Without this it trusts its built-in authorities.
    let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
    let agent: Agent = Agent::config_builder().http_status_as_error(false).tls_config(tls).build().into();
    run(|action| match action {
        "call" => {
            let mut answer = agent.get(url("/things")).header("authorization", bearer()).call()?;
            checked(answer.status().as_u16(), answer.body_mut().read_to_string()?)
        }
        "stream" => show(agent.get(url("/events")).header("authorization", bearer()).call()?.into_body().into_reader()),
        _ => {
            let mut answer = agent.put(url("/files/1")).header("authorization", bearer()).send(&file()[..])?;
            checked(answer.status().as_u16(), answer.body_mut().read_to_string()?)
        }
    });
}
