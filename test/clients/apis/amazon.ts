/** Amazon Web Services, whose clients do not send their key but sign with it. */
import type { Api } from './api.ts'

const s3: Api = {
  host: 's3.eu-central-1.amazonaws.com',
  otherHosts: ['things.s3.eu-central-1.amazonaws.com'],
  credentials: { AWS_ACCESS_KEY_ID: 'AKIA', AWS_SECRET_ACCESS_KEY: '' },
  base: { AWS_ENDPOINT_URL: '' },
  answers: {
    call: (text) => ({ headers: { etag: '"1"' }, body: text }),
    // In text without lines or events the last 4 KiB wait for the following bytes.
    stream: (words) => ({ type: 'text/plain', pieces: words.map((word) => word.padEnd(5000)) }),
    upload: (receipt) => ({ headers: { etag: `"${receipt}"` }, body: '' }),
    error: (message) => ({
      status: 400,
      headers: { 'content-type': 'application/xml' },
      body: `<?xml version="1.0"?><Error><Code>InvalidArgument</Code><Message>${message}</Message></Error>`,
    }),
  },
}

export const amazon = { s3 }
