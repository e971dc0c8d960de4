// tier: all
/** Executes each command of docs/guides/proxy.md. Programs that the test machine may lack have a stand-in. */
import { afterAll, beforeAll, expect } from 'bun:test'
import { createHmac, generateKeyPairSync, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startAws } from '../proxy/aws/upstream.ts'
import { marked } from '../support/canary.ts'
import { requires } from '../support/requires.ts'
import { answerOf } from '../support/upstream.ts'
import { linesOf } from './blocks.ts'
import { echoOf, openReader, type Reader } from './reader.ts'

const KEY = marked('sk_live_0123456789abcdef')
const [STRIPE, ITEMS, S3] = ['api.stripe.com', 'api.example.com', 's3.eu-central-1.amazonaws.com']
const BLOBS = 'acct.blob.core.windows.net'
const [GOOGLE, STORAGE] = ['oauth2.googleapis.com', 'storage.googleapis.com']
const APIS = [STRIPE, ITEMS, BLOBS, GOOGLE, STORAGE]
const { test } = requires('bash', 'curl', 'openssl', 'python')

let reader: Reader

beforeAll(async () => {
  reader = await openReader([...APIS, S3])
  const { ada, stage, placed } = reader
  await ada.must('secrets', 'set', `STRIPE_KEY=${KEY}`, `KEY=${KEY}`)
  await ada.must('allowlist', 'add', ...APIS.map(stage.authorityOf))
  await ada.must('agent', 'create', 'deploy-bot')
  for (const name of ['upload.py', 'report.py'])
    ada.write(name, placed(readFileSync(join(import.meta.dir, 'programs', name), 'utf8')))
}, 120_000)
afterAll(() => reader.stop())

const received = () => reader.stage.upstream.received

test('each program of the first commands sends the credential and receives its stand-in', async () => {
  const { stage, ada, install, type, placed } = reader
  stage.upstream.on('/v1/charges', echoOf('authorization'))
  const call = `curl -sS -H "Authorization: Bearer $STRIPE_KEY" https://${STRIPE}/v1/charges`
  // Replaces Claude Code and the reader's script: one command of theirs.
  install('claude', call)
  ada.write('deploy.sh', `#!/bin/sh\n${placed(call)}\n`)
  await type('chmod +x deploy.sh')
  const shown: string[] = []
  for (const line of linesOf('docs/guides/proxy.md', 'start')) {
    const [, found = ''] = /got Bearer (\S+)/.exec(await type(line)) ?? []
    shown.push(found)
  }
  const standIn = expect.stringMatching(/^sk_live_\w{42}$/)
  expect(shown).toEqual([standIn, standIn, standIn, 'SVC_SECRET_STRIPE_KEY'])
  const sent = received().map(({ header }) => header('authorization'))
  expect(sent).toEqual(Array(4).fill(`Bearer ${KEY}`))
  const records = (await ada.json('audit', 'list', '--agent', 'deploy-bot')) as unknown[]
  expect(records).toMatchObject([{ credential_ref: 'STRIPE_KEY', decision: 'allowed' }])
}, 60_000)

test('a base URL leads a program to the proxy', async () => {
  reader.stage.upstream.on('/v1/items', echoOf('x-api-key'))
  const [line = ''] = linesOf('docs/guides/proxy.md', 'base')
  expect(await reader.type(line)).toContain('got SVC_SECRET_KEY')
  expect(received().at(-1)?.header('x-api-key')).toBe(KEY)
}, 60_000)

const AZURE_KEY = Buffer.from(marked('key of a storage account').padEnd(64).slice(0, 64))
const AWS = { id: 'AKIAQ7ZQ7ZQ7ZQ7ZQ7ZQ', secret: marked('aws+secret/key') }
const ACCESS_TOKEN = marked('ya29.access-token')

/** Stores the credentials of the three vendors. */
async function storeKeys(privateKey: string) {
  const account = {
    type: 'service_account',
    project_id: 'project',
    private_key_id: 'a'.repeat(40),
    private_key: privateKey,
    client_email: 'robot@project.iam.gserviceaccount.com',
    client_id: '1'.repeat(21),
    token_uri: `https://${GOOGLE}/token`,
  }
  const keys = {
    AWS_ACCESS_KEY_ID: AWS.id,
    AWS_SECRET_ACCESS_KEY: AWS.secret,
    AZURE_STORAGE_CONNECTION_STRING: `DefaultEndpointsProtocol=https;AccountName=acct;AccountKey=${AZURE_KEY.toString('base64')};EndpointSuffix=core.windows.net`,
    GOOGLE_KEY: JSON.stringify(account),
  }
  const pairs = Object.entries(keys).map(([name, value]) => `${name}=${value}`)
  await reader.ada.must('secrets', 'set', '--sensitive', ...pairs)
}

test('requests that a program signs with stand-ins arrive with valid signatures', async () => {
  const { stage, ada, install, type } = reader
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  await storeKeys(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
  const aws = await startAws(stage.authority, { names: [S3], ...AWS })
  aws.objects.set('', Buffer.from('<ListAllMyBucketsResult/>'))
  await ada.must('allowlist', 'add', `${S3}:${aws.port}`)
  // Replaces AWS's command line by its request. Debian names Python python3.
  const request = `curl -sS --aws-sigv4 aws:amz:eu-central-1:s3 https://${S3}:${aws.port}/`
  const user = '--user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY"'
  install('aws', `[ "$*" = "s3 ls" ] && ${request} ${user}`)
  install('python', 'exec python3 "$@"')
  const answer = JSON.stringify({ access_token: ACCESS_TOKEN, expires_in: 3599 })
  stage.upstream.on('/token', answerOf(200, { 'content-type': 'application/json' }, answer))
  stage.upstream.on('/report', answerOf(200, {}, '12 visitors'))
  const [list = '', upload = '', report = ''] = linesOf('docs/guides/proxy.md', 'signed')

  expect(await type(list)).toContain('<ListAllMyBucketsResult/>')
  expect([aws.served.map(({ line }) => line), aws.refused]).toEqual([['GET /'], []])
  await aws.stop()

  expect(await type(upload)).toContain('uploaded 200')
  const { header } = received().at(-1) ?? { header: () => '' }
  const text = `PUT\n\n\n5\n\ntext/plain\n\n\n\n\n\n\nx-ms-blob-type:BlockBlob\nx-ms-date:${header('x-ms-date')}\n/acct/box/file`
  const signature = createHmac('sha256', AZURE_KEY).update(text).digest('base64')
  expect(header('authorization')).toBe(`SharedKey acct:${signature}`)

  expect(await type(report)).toContain('report: 12 visitors')
  const [exchange, read] = received().slice(-2)
  expect(read?.header('authorization')).toBe(`Bearer ${ACCESS_TOKEN}`)
  const form = new URLSearchParams(Buffer.from(exchange?.body ?? []).toString())
  const [head, claims, made = ''] = form.get('assertion')?.split('.') ?? []
  const signed = Buffer.from(`${head}.${claims}`)
  expect(verify('sha256', signed, publicKey, Buffer.from(made, 'base64url'))).toBe(true)
}, 60_000)
