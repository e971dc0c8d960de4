import { readFileSync } from 'node:fs'
import { Client } from '@sendgrid/client'
import { FILE, main } from './common.mjs'

const { SENDGRID_API_KEY, SENDGRID_URL } = process.env
const sendgrid = new Client()
sendgrid.setApiKey(SENDGRID_API_KEY)
if (SENDGRID_URL) sendgrid.setDefaultRequest('baseUrl', SENDGRID_URL)

await main({
  call: async () => {
    const [{ body }] = await sendgrid.request({ method: 'GET', url: '/v3/user/profile' })
    console.log(body.text)
  },
  upload: async () => {
    const content = readFileSync(FILE).toString('base64')
    const body = { attachments: [{ content, filename: 'file.bin' }] }
    const [answer] = await sendgrid.request({ method: 'POST', url: '/v3/mail/send', body })
    console.log(answer.body.receipt)
  },
})
