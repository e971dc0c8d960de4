/** Java: libraries and SDKs. */
import { allOf, type Client } from '../client.ts'

const language = 'Java'

const noStream = { stream: 'it has no call with a stream' }
const noUpload = { upload: 'the program has no call with a file' }

/** A library that calls any given URL. */
const http = (name: string, packages: string[], program: string): Client => ({
  ...{ name, language, packages, api: 'example', program },
})

/** An SDK of a vendor. */
const sdk = (name: string, packages: string[], api: string, program: string): Client => ({
  ...{ name: `${name} (Java)`, language, packages, api, program },
})

export const java: readonly Client[] = [
  http('java.net.http.HttpClient', [], 'JdkHttpClient'),
  http('HttpURLConnection', [], 'UrlConnection'),
  {
    ...http(
      'Apache HttpClient',
      ['org.apache.httpcomponents.client5:httpclient5:5.4.1'],
      'ApacheHttpClient',
    ),
    note: 'needs an option to follow the properties of Java (`createSystem`)',
  },
  http('OkHttp', ['com.squareup.okhttp3:okhttp:4.12.0'], 'OkHttp'),
  {
    ...sdk('anthropic-java', ['com.anthropic:anthropic-java:2.0.0'], 'anthropic', 'AnthropicJava'),
    lacks: noUpload,
  },
  {
    ...sdk('AWS SDK', ['software.amazon.awssdk:s3:2.31.0'], 's3', 'S3Java'),
    fails: allOf('proxy', 'it follows `http.proxyHost` only, which `--strict` sets'),
  },
  {
    ...sdk(
      'google-cloud-storage',
      ['com.google.cloud:google-cloud-storage:2.50.0'],
      'storage',
      'GoogleStorage',
    ),
    fails: { 'forward upload': 'it leaves the path of its host out for uploads' },
  },
  sdk('openai-java', ['com.openai:openai-java:2.0.0'], 'openai', 'OpenAIJava'),
  {
    ...sdk('stripe-java', ['com.stripe:stripe-java:29.0.0'], 'stripe', 'StripeJava'),
    lacks: noStream,
  },
]
