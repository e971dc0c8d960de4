import { readFileSync } from 'node:fs'
import { API_URL, checked, FILE, headers, main, show } from './common.mjs'

await main({
  call: async () => {
    const answer = await fetch(`${API_URL}/things`, { headers })
    console.log(checked(answer.status, await answer.text()))
  },
  stream: async () => show((await fetch(`${API_URL}/events`, { headers })).body),
  upload: async () => {
    const body = readFileSync(FILE)
    const answer = await fetch(`${API_URL}/files/1`, { method: 'PUT', headers, body })
    console.log(checked(answer.status, await answer.text()))
  },
})
