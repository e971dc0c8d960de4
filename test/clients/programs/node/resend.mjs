import { readFileSync } from 'node:fs'
import { Resend } from 'resend'
import { FILE, main } from './common.mjs'

const resend = new Resend()

async function send(more) {
  const mail = {
    from: 'ada@example.com',
    to: 'bob@example.com',
    subject: 'Hello',
    text: 'Hello',
    ...more,
  }
  const { data, error } = await resend.emails.send(mail)
  if (error) throw Object.assign(new Error(error.message), { body: JSON.stringify(error) })
  return data.id
}

await main({
  call: async () => console.log(await send({})),
  upload: async () =>
    console.log(
      await send({ attachments: [{ filename: 'file.bin', content: readFileSync(FILE) }] }),
    ),
})
