// tier: all
/** AWS's SDK for JavaScript, unchanged, with stand-ins of temporary credentials, behind either proxy. */
import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { API } from '../../support/agent.ts'
import { marked } from '../../support/canary.ts'
import { otherPackages } from '../../support/other_programs.ts'
import { openProxyStage, runWith } from '../stage.ts'
import { startAws } from './upstream.ts'

const ID = 'ASIAIOSFODNN7EXAMPLE'
const SECRET = marked('wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY')
const TOKEN = marked('IQoJb3JpZ2luX2VjEXAMPLE/+')

await otherPackages()
const stage = await openProxyStage()
const aws = await startAws(stage.authority, { names: [API], id: ID, secret: SECRET })
afterAll(async () => {
  await aws.stop()
  await stage.stop()
})
const host = `${API}:${aws.port}`
await stage.agent.allow(host)
const policy = { allowed_paths: ['/local', '/remote'] }
for (const [name, value] of Object.entries({
  AWS_ACCESS_KEY_ID: ID,
  AWS_SECRET_ACCESS_KEY: SECRET,
  AWS_SESSION_TOKEN: TOKEN,
})) {
  await stage.agent.store(name, value, { policy })
}

test.each(['local', 'remote'] as const)('the AWS SDK succeeds behind the %s proxy', async (way) => {
  const proxy = await stage.open(way, { standIns: true })
  const {
    AWS_ACCESS_KEY_ID = '',
    AWS_SECRET_ACCESS_KEY = '',
    AWS_SESSION_TOKEN = '',
  } = proxy.standIns
  const program = ['bun', join(import.meta.dir, 'child.ts'), way, '300000']
  const { code, out, err } = await runWith(proxy, program, {
    HOME: stage.directory,
    AWS_REGION: 'eu-central-1',
    AWS_ENDPOINT_URL_S3: `https://${host}`,
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_ACCESS_KEY_ID,
    AWS_SECRET_ACCESS_KEY,
    AWS_SESSION_TOKEN,
  })
  expect({ code, err, refused: aws.refused }).toEqual({ code: 0, err: '', refused: [] })
  const keys = ['a key', 'x//y', '100%', "ü~!'()*", 'a+b=c&d', 'folder/']
  expect(JSON.parse(out)).toEqual({
    small: keys.map((key) => [`of ${key}`, 'f ']),
    ContentLength: 300_000,
    last: { text: 'xxx', range: 'bytes 299997-299999/300000', length: 3 },
    listed: keys.length + 1,
    refused: {
      name: 'policy_blocked',
      message: expect.stringContaining('The policy of the secret AWS_SESSION_TOKEN'),
    },
  })
  expect(aws.tokens).toEqual(new Set([TOKEN]))
})
