/** Rust: libraries, by the TLS that they are built with. */
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
    note: 'is built to trust the authorities of the system (`rustls-tls-native-roots`)',
  },
  {
    ...{ name: 'ureq', language, api: 'example', program: 'ureq' },
    packages: ['ureq@{ version = "=3.0.12", features = ["platform-verifier"] }'],
    note: 'needs an option to trust the authorities of the system (`RootCerts::PlatformVerifier`)',
  },
]
