import { readFileSync } from 'node:fs'
import { REST } from '@discordjs/rest'
import { FILE, main } from './common.mjs'

const { DISCORD_TOKEN, DISCORD_URL } = process.env
const rest = new REST({
  version: '10',
  retries: 0,
  ...(DISCORD_URL ? { api: DISCORD_URL } : {}),
}).setToken(DISCORD_TOKEN)

await main({
  call: async () => console.log((await rest.get('/users/@me')).username),
  upload: async () => {
    const files = [{ name: 'file.bin', data: readFileSync(FILE) }]
    console.log((await rest.post('/channels/1/messages', { body: {}, files })).id)
  },
})
