import { readFileSync } from 'node:fs'
import { WebClient } from '@slack/web-api'
import { FILE, main } from './common.mjs'

const { SLACK_BOT_TOKEN, SLACK_API_URL } = process.env
const options = {
  retryConfig: { retries: 0 },
  ...(SLACK_API_URL ? { slackApiUrl: `${SLACK_API_URL}/` } : {}),
}
const slack = new WebClient(SLACK_BOT_TOKEN, options)

await main({
  call: async () => {
    const { message } = await slack.chat.postMessage({ channel: 'C1', text: 'Hello' })
    console.log(message.text)
  },
  upload: async () => {
    console.log(
      (await slack.apiCall('users.setPhoto', { image: readFileSync(FILE) })).profile.avatar_hash,
    )
  },
})
