/** JavaScript: libraries and SDKs on Node.js, and the other runtimes. */
import { allOf, bothWays, type Client } from '../client.ts'

const language = 'Node.js'
const arch = process.arch
const runtime = `node-linux-${arch}@26.10.0`

/** A library that calls any given URL. */
const http = (name: string, version: string): Client => ({
  ...{ name, language, packages: [runtime, `${name}@${version}`], api: 'example', program: name },
})

/** An SDK of a vendor. */
const sdk = (name: string, version: string, api: string, program: string): Client => ({
  ...{
    name: `${name} (Node.js)`,
    language,
    packages: [runtime, `${name}@${version}`],
    api,
    program,
  },
})

const noStream = { stream: 'it has no call with a stream' }
const noUpload = { upload: 'it has no call with a file' }

export const node: readonly Client[] = [
  { name: 'fetch of Node.js', language, packages: [runtime], api: 'example', program: 'fetch' },
  { name: 'https of Node.js', language, packages: [runtime], api: 'example', program: 'https' },
  http('axios', '1.21.1'),
  http('got', '16.1.0'),
  http('ky', '2.1.0'),
  http('needle', '3.5.0'),
  http('node-fetch', '3.3.2'),
  http('superagent', '10.4.2'),
  {
    ...http('undici', '8.12.4'),
    note: 'needs an option to follow the environment (`EnvHttpProxyAgent`)',
  },
  sdk('@anthropic-ai/sdk', '1.11.0', 'anthropic', 'anthropic'),
  sdk('@aws-sdk/client-s3', '3.1169.0', 's3', 'aws-s3'),
  sdk('@google-cloud/storage', '8.4.0', 'storage', 'google-storage'),
  {
    ...sdk('@discordjs/rest', '2.6.3', 'discord', 'discord'),
    lacks: noStream,
    fails: bothWays('refusal', 'it takes `error` for one of OAuth, and shows 403 only'),
  },
  { ...sdk('@google/genai', '3.1.0', 'gemini', 'google-genai'), lacks: noUpload },
  sdk('@mistralai/mistralai', '2.7.0', 'mistral', 'mistral'),
  { ...sdk('@notionhq/client', '5.26.0', 'notion', 'notion'), lacks: noStream },
  { ...sdk('@octokit/rest', '22.0.1', 'github', 'octokit'), lacks: noStream },
  { ...sdk('@sendgrid/client', '8.1.6', 'sendgrid', 'sendgrid'), lacks: noStream },
  { ...sdk('@slack/web-api', '8.2.0', 'slack', 'slack'), lacks: noStream },
  { ...sdk('@supabase/supabase-js', '2.119.0', 'supabase', 'supabase'), lacks: noStream },
  {
    ...sdk('ai', '7.0.173', 'openai', 'vercel-ai'),
    packages: [runtime, 'ai@7.0.173', '@ai-sdk/openai@4.0.118'],
    lacks: noUpload,
  },
  { ...sdk('cohere-ai', '8.1.0', 'cohere', 'cohere'), lacks: noUpload },
  sdk('groq-sdk', '1.6.0', 'groq', 'groq'),
  sdk('openai', '7.55.0', 'openai', 'openai'),
  { ...sdk('resend', '6.38.0', 'resend', 'resend'), lacks: noStream },
  {
    ...sdk('stripe', '23.1.0', 'stripe', 'stripe'),
    note: 'forward: the path goes into the `fetch` that it is given',
    lacks: noStream,
  },
  {
    ...sdk('twilio', '6.2.0', 'twilio', 'twilio'),
    note: 'forward: the path goes into the HTTP client that it is given',
    lacks: { ...noStream, ...noUpload },
    fails: allOf('proxy', 'it follows `HTTP_PROXY` only, which `--strict` sets'),
  },
  { name: 'fetch of Bun', language: 'Bun', packages: [], api: 'example', program: 'fetch' },
  {
    ...{ name: 'fetch of Deno', language: 'Deno', api: 'example', program: 'fetch' },
    packages: [`@deno/linux-${arch}-glibc@2.9.6`],
  },
]
