import { PassThrough } from 'node:stream'
import superagent from 'superagent'
import { API_URL, FILE, headers, main, show } from './common.mjs'

await main({
  call: async () => {
    try {
      console.log((await superagent.get(`${API_URL}/things`).set(headers)).text)
    } catch (error) {
      throw new Error(`${error.status}: ${error.response?.text ?? error.message}`)
    }
  },
  stream: async () => {
    const pieces = new PassThrough()
    superagent.get(`${API_URL}/events`).set(headers).pipe(pieces)
    await show(pieces)
  },
  upload: async () => {
    console.log((await superagent.post(`${API_URL}/files`).set(headers).attach('file', FILE)).text)
  },
})
