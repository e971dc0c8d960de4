/** Rust: libraries, by their TLS implementation. */
import type { Client } from '../client.ts'

const language = 'Rust'
const reqwest =
  'reqwest@{ version = "=0.12.9", features = ["blocking", "native-tls", "rustls-tls-native-roots"] }'

export const rust: readonly Client[] = [
  {
    ...{ name: 'reqwest with native-tls', language, api: 'example', program: 'reqwest_native' },
    packages: [reqwest],
  },
  {
    ...{ name: 'reqwest with rustls', language, api: 'example', program: 'reqwest_rustls' },
    packages: [reqwest],
    note: 'proxy needs the feature `rustls-tls-native-roots`',
  },
  {
    ...{ name: 'ureq', language, api: 'example', program: 'ureq' },
    packages: ['ureq@{ version = "=3.0.12", features = ["platform-verifier"] }'],
    note: 'proxy needs `RootCerts::PlatformVerifier`',
  },
]
