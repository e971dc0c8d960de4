import { openAsBlob } from 'node:fs'
import ky from 'ky'
import { API_URL, FILE, headers, main, show } from './common.mjs'

const api = ky.create({ baseUrl: `${API_URL}/`, headers, retry: 0 })

await main({
  call: async () => {
    try {
      console.log(await api('things').text())
    } catch (error) {
      throw new Error(`${error.message}: ${JSON.stringify(error.data)}`)
    }
  },
  stream: async () => show((await api('events')).body),
  upload: async () => {
    const body = new FormData()
    body.append('file', await openAsBlob(FILE), 'file.bin')
    console.log(await api.post('files', { body }).text())
  },
})
