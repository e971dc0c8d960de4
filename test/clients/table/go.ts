/** Go: libraries and SDKs. */
import { allOf, type Client } from '../client.ts'

const language = 'Go'

const noStream = { stream: 'it has no call with a stream' }
const noUpload = { upload: 'the program has no call with a file' }

/** An SDK of a vendor. */
const sdk = (name: string, packages: string[], api: string, program = api): Client => ({
  ...{ name: `${name} (Go)`, language, packages, api, program },
})

export const go: readonly Client[] = [
  { name: 'net/http', language, packages: [], api: 'example', program: 'nethttp' },
  {
    ...{ name: 'fasthttp', language, api: 'example', program: 'fasthttp' },
    packages: ['github.com/valyala/fasthttp@v1.77.0'],
    note: 'needs an option to follow the environment (`FasthttpProxyHTTPDialer`)',
  },
  {
    ...{ name: 'resty', language, api: 'example', program: 'resty' },
    packages: ['github.com/go-resty/resty/v2@v2.17.2'],
  },
  {
    ...sdk('anthropic-sdk-go', ['github.com/anthropics/anthropic-sdk-go@v1.84.0'], 'anthropic'),
    lacks: noUpload,
  },
  sdk(
    'aws-sdk-go-v2',
    [
      'github.com/aws/aws-sdk-go-v2/config@v1.29.0',
      'github.com/aws/aws-sdk-go-v2/service/s3@v1.72.0',
    ],
    's3',
  ),
  { ...sdk('go-github', ['github.com/google/go-github/v74@v74.0.0'], 'github'), lacks: noStream },
  sdk('openai-go', ['github.com/openai/openai-go/v3@v3.96.0'], 'openai'),
  {
    ...sdk('slack-go', ['github.com/slack-go/slack@v0.35.0'], 'slack'),
    note: 'sends its token in a form, which the policy of the secret has to allow',
    fails: {
      ...allOf('forward', 'the token of the agent may not stand in a form'),
      'proxy refusal': 'it shows 403 only',
    },
    lacks: { ...noStream, ...noUpload },
  },
  { ...sdk('stripe-go', ['github.com/stripe/stripe-go/v82@v82.5.1'], 'stripe'), lacks: noStream },
]
