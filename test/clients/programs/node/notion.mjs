import { openAsBlob } from 'node:fs'
import { Client } from '@notionhq/client'
import { FILE, main } from './common.mjs'

const { NOTION_TOKEN, NOTION_URL } = process.env
const notion = new Client({ auth: NOTION_TOKEN, ...(NOTION_URL ? { baseUrl: NOTION_URL } : {}) })

await main({
  call: async () => console.log((await notion.users.me({})).name),
  upload: async () => {
    const file = { filename: 'file.bin', data: await openAsBlob(FILE) }
    console.log((await notion.fileUploads.send({ file_upload_id: '1', file })).id)
  },
})
