import { createReadStream } from 'node:fs'
import { EnvHttpProxyAgent, request, setGlobalDispatcher } from 'undici'
import { API_URL, checked, FILE, headers, main, show } from './common.mjs'

setGlobalDispatcher(new EnvHttpProxyAgent())

await main({
  call: async () => {
    const { statusCode, body } = await request(`${API_URL}/things`, { headers })
    console.log(checked(statusCode, await body.text()))
  },
  stream: async () => show((await request(`${API_URL}/events`, { headers })).body),
  upload: async () => {
    const sent = { method: 'PUT', headers, body: createReadStream(FILE) }
    const { statusCode, body } = await request(`${API_URL}/files/1`, sent)
    console.log(checked(statusCode, await body.text()))
  },
})
