/** The external APIs of the matrix. */
import { amazon } from './amazon.ts'
import type { Api } from './api.ts'
import { google } from './google.ts'
import { models } from './models.ts'
import { services } from './services.ts'

/** The API that clients without a vendor call. */
const example: Api = {
  host: 'api.example.com',
  isOwn: true,
  credentials: { API_KEY: 'demo_live_' },
  base: { API_URL: '/v1' },
  answers: {
    call: (text) => ({ body: { text } }),
    stream: (words) => ({
      type: 'text/event-stream',
      pieces: words.map((word) => `data: ${word}\n\n`),
    }),
    upload: (receipt) => ({ status: 201, body: { receipt } }),
    error: (message) => ({ status: 422, body: { error: { message } } }),
  },
}

export const apis: Readonly<Record<string, Api>> = {
  example,
  ...models,
  ...services,
  ...amazon,
  ...google,
}

export function hostsOf({ host, otherHosts = [] }: Api): string[] {
  return [host, ...otherHosts]
}

export const hosts = [...new Set(Object.values(apis).flatMap(hostsOf))]
