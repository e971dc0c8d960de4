import { createReadStream } from 'node:fs'
import got from 'got'
import { API_URL, FILE, headers, main, show } from './common.mjs'

const api = got.extend({ prefixUrl: API_URL, headers, retry: { limit: 0 } })

await main({
  call: async () => console.log(await api('things').text()),
  stream: async () => show(api.stream('events')),
  upload: async () =>
    console.log(await api.put('files/1', { body: createReadStream(FILE) }).text()),
})
