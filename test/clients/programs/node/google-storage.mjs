import { readFile } from 'node:fs/promises'
import { Storage } from '@google-cloud/storage'
import { OAuth2Client } from 'google-auth-library'
import { API_URL, FILE, main, show } from './common.mjs'

const authClient = new OAuth2Client()
authClient.setCredentials({ access_token: process.env.ACCESS_TOKEN })
const storage = new Storage({
  projectId: 'things',
  authClient,
  retryOptions: { autoRetry: false },
  ...(API_URL ? { apiEndpoint: API_URL, useAuthWithCustomEndpoint: true } : {}),
})
const thing = storage.bucket('things').file('a file')

await main({
  call: async () => console.log(String((await thing.download({ validation: false }))[0])),
  stream: () => show(thing.createReadStream({ validation: false })),
  upload: async () => {
    await thing.save(await readFile(FILE), { resumable: false, validation: false })
    console.log(thing.metadata.id)
  },
})
