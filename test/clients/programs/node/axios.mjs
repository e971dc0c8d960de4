import { createReadStream } from 'node:fs'
import axios from 'axios'
import { API_URL, FILE, headers, main, show } from './common.mjs'

const api = axios.create({ baseURL: API_URL, headers })

await main({
  call: async () => console.log((await api.get('/things')).data),
  stream: async () => show((await api.get('/events', { responseType: 'stream' })).data),
  upload: async () => {
    const { data } = await api.postForm('/files', { file: createReadStream(FILE) })
    console.log(data)
  },
})
