import { readFileSync } from 'node:fs'
import needle from 'needle'
import { API_URL, checked, FILE, headers, main, show } from './common.mjs'

await main({
  call: async () => {
    const { statusCode, body } = await needle('get', `${API_URL}/things`, { headers })
    console.log(checked(statusCode, JSON.stringify(body)))
  },
  stream: async () => show(needle.get(`${API_URL}/events`, { headers })),
  upload: async () => {
    const { body } = await needle('put', `${API_URL}/files/1`, readFileSync(FILE), { headers })
    console.log(JSON.stringify(body))
  },
})
