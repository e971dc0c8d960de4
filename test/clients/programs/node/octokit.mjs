import { readFileSync } from 'node:fs'
import { Octokit } from '@octokit/rest'
import { FILE, main } from './common.mjs'

const { GITHUB_TOKEN, GITHUB_API_URL } = process.env
const github = new Octokit({
  auth: GITHUB_TOKEN,
  ...(GITHUB_API_URL ? { baseUrl: GITHUB_API_URL } : {}),
})
const repository = { owner: 'acme', repo: 'things' }

await main({
  call: async () => console.log((await github.rest.repos.get(repository)).data.description),
  upload: async () => {
    const content = readFileSync(FILE).toString('base64')
    const file = { ...repository, path: 'file.bin', message: 'A file', content }
    console.log((await github.rest.repos.createOrUpdateFileContents(file)).data.content.sha)
  },
})
