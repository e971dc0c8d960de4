/** Google Cloud, with an access token in the form that its clients receive. */
import type { Api } from './api.ts'

const storage: Api = {
  host: 'storage.googleapis.com',
  credentials: { ACCESS_TOKEN: 'ya29.' },
  base: { API_URL: '' },
  answers: {
    call: (text) => ({ headers: { 'content-type': 'text/plain' }, body: text }),
    // Like S3: in text without lines or events the last 4 KiB wait for the following bytes.
    stream: (words) => ({ type: 'text/plain', pieces: words.map((word) => word.padEnd(5000)) }),
    upload: (receipt) => ({ body: { bucket: 'things', name: 'a file', id: receipt } }),
    error: (message) => ({
      status: 400,
      body: { error: { code: 400, message, errors: [{ message, reason: 'invalid' }] } },
    }),
  },
}

export const google = { storage }
