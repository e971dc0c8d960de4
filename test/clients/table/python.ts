/** Python: libraries and SDKs. */
import type { Client } from '../client.ts'

const language = 'Python'

/** A library that calls any given URL. */
const http = (name: string, version: string, program = `${name}_`): Client => ({
  ...{ name, language, packages: [`${name}==${version}`], api: 'example', program },
})

/** An SDK of a vendor. */
const sdk = (name: string, version: string, api: string, program = `${api}_`): Client => ({
  ...{ name: `${name} (Python)`, language, packages: [`${name}==${version}`], api, program },
})

const noStream = { stream: 'it has no call with a stream' }
const noUpload = { upload: 'it has no call with a file' }

export const python: readonly Client[] = [
  { name: 'urllib', language, packages: [], api: 'example', program: 'urllib_' },
  { ...http('aiohttp', '3.14.5'), note: 'needs an option to follow the environment (`trust_env`)' },
  http('curl-cffi', '0.13.0', 'curl_cffi_'),
  {
    ...http('httplib2', '0.32.1'),
    packages: ['PySocks==1.7.1', 'httplib2==0.32.1'],
    note: 'it passes proxies by where PySocks is not installed',
    lacks: { stream: 'it reads each answer whole' },
  },
  http('httpx', '0.28.1'),
  http('niquests', '3.21.2'),
  { ...http('pycurl', '7.49.0'), note: 'needs the bundle as an option (`CAINFO`)' },
  http('requests', '2.34.2'),
  { ...http('urllib3', '2.8.0'), note: 'needs proxy and bundle as options (`ProxyManager`)' },
  sdk('anthropic', '2.10.0', 'anthropic'),
  sdk('boto3', '1.44.5', 's3', 'boto3_'),
  { ...sdk('cohere', '7.3.1', 'cohere'), lacks: noUpload },
  { ...sdk('google-genai', '3.3.0', 'gemini', 'google_genai_'), lacks: noUpload },
  sdk('google-cloud-storage', '3.17.1', 'storage', 'google_storage_'),
  sdk('groq', '1.7.0', 'groq'),
  {
    ...sdk('huggingface-hub', '2.4.0', 'openai', 'huggingface_hub_'),
    lacks: noUpload,
  },
  sdk('mistralai', '3.1.0', 'mistral'),
  { ...sdk('notion-client', '3.1.0', 'notion'), lacks: noStream },
  sdk('openai', '3.51.0', 'openai'),
  { ...sdk('PyGithub', '2.10.0', 'github'), lacks: noStream },
  { ...sdk('sendgrid', '6.12.5', 'sendgrid'), lacks: noStream },
  { ...sdk('slack_sdk', '3.47.0', 'slack'), lacks: noStream },
  {
    ...sdk('stripe', '16.1.0', 'stripe'),
    note: 'needs the bundle as an option (`stripe.ca_bundle_path`)',
    lacks: noStream,
  },
  {
    ...sdk('twilio', '9.13.0', 'twilio'),
    note: 'forward: the path goes into the HTTP client that it is given',
    lacks: { ...noStream, ...noUpload },
  },
]
