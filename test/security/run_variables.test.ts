// tier: quick
/**
 * Secrets whose names decide which code runs on the machine of everyone who uses `cloakroom run`: stored by a person
 * who may write secrets, or delivered by a server that sealed its own key to the token.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { toBase64, uuidv7 } from '../../src/core/crypto/encoding.ts'
import { sealTokenEnvelope } from '../../src/core/crypto/envelope.ts'
import { sealSecretValue } from '../../src/core/crypto/secret_value.ts'
import { mintToken, tokenKeyPair } from '../../src/core/crypto/token.ts'
import { openAccount, type Terminal } from '../cli/person.ts'
import { sharedApp, type TestApp } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { requires } from '../support/requires.ts'

let app: TestApp
let ada: Terminal
let token: string

beforeAll(async () => {
  app = await sharedApp()
  ada = await openAccount(app, 'ada@run-variables.example')
  await ada.must('init', 'payments')
  ada.write('taken.sh', 'touch taken\n')
  const script = join(ada.cwd, 'taken.sh')
  const allowed = ['--allow-env', 'BASH_ENV', '--allow-env', 'NODE_OPTIONS']
  const pairs = [`BASH_ENV=${script}`, 'NODE_OPTIONS=--no-warnings', 'MODE=live']
  await ada.must('secrets', 'set', ...pairs, ...allowed)
  const issued = await ada.json('workload-token', 'issue', 'ci')
  token = (issued as { token: string }).token
})
afterAll(() => {
  ada.remove()
})

const wasTaken = () => existsSync(join(ada.cwd, 'taken'))
const BASH = ['--', 'bash', '-c', 'echo "$MODE"; touch started']

describe('run', () => {
  test('run rejects forbidden variables by name and starts nothing, with a session and with a token', async () => {
    for (const env of [{}, { SERVICE_TOKEN: token }]) {
      for (const mask of [[], ['--no-mask']]) {
        const { code, out, err } = await ada.run(['run', ...mask, ...BASH], { env })
        expect([code, out]).toEqual([5, ''])
        expect(err).toBe(
          'cloakroom: the secret BASH_ENV makes a shell run commands or parse its input differently (unsafe_variable)\n' +
            'the secret NODE_OPTIONS makes an interpreter load foreign code\n' +
            'nothing was run\n' +
            '→ to allow it, add before the command: --allow-env BASH_ENV --allow-env NODE_OPTIONS\n',
        )
      }
    }
    expect([wasTaken(), existsSync(join(ada.cwd, 'started'))]).toEqual([false, false])
  })

  test('run rejects forbidden variables that are not named', async () => {
    const args = ['run', '--allow-env', 'NODE_OPTIONS', ...BASH]
    const { code, err } = await ada.run(args)
    expect([code, err.includes('BASH_ENV'), err.includes('NODE_OPTIONS')]).toEqual([5, true, false])
  })

  requires('bash').test('sets those that are named', async () => {
    const named = ['--allow-env', 'NODE_OPTIONS', '--allow-env', 'BASH_ENV', '--no-mask']
    expect(await ada.run(['run', ...named, ...BASH])).toEqual({ code: 0, out: 'live\n', err: '' })
    expect(wasTaken()).toBe(true)
  })

  test('run accepts ordinary names, and variables that the shell has', async () => {
    await ada.must('secrets', 'set', 'LD_SDK_KEY=sdk', 'GIT_TOKEN=git', 'PORT=3000', '-e', 'usual')
    const child = 'printf "$LD_SDK_KEY $GIT_TOKEN $PORT $NODE_OPTIONS"'
    const args = ['run', '-e', 'usual', '--no-mask', '--', 'sh', '-c', child]
    const env = { NODE_OPTIONS: '--mine' }
    expect(await ada.run(args, { env })).toEqual({ code: 0, out: 'sdk git 3000 --mine', err: '' })
  })

  test('run names a value that no variable can hold, without printing it', async () => {
    const value = marked('zero')
    const args = ['secrets', 'set', 'ZERO', '--stdin', '-e', 'zero']
    expect((await ada.run(args, { stdin: `${value}\0rest` })).code).toBe(0)
    const { code, out, err } = await ada.run(['run', '-e', 'zero', ...BASH])
    expect([code, out, err.includes(value)]).toEqual([5, '', false])
    expect(err).toContain('ZERO: the value has a zero byte')
  })

  test('run rejects forbidden variables from a server that sealed the delivery itself', async () => {
    const victim = mintToken('wkl')
    const server = await forgingServer(victim, { LD_PRELOAD: '/tmp/x.so', MODE: 'forged' })
    const env = { SERVICE_SERVER_URL: server.origin, SERVICE_TOKEN: victim.text }
    const refused = await ada.run(['run', ...BASH], { env })
    expect([refused.code, refused.err]).toEqual([5, expect.stringContaining('LD_PRELOAD')])
    server.stop()
  })
})

async function forgingServer(
  { id, secret }: { id: string; secret: Uint8Array },
  values: Record<string, string>,
) {
  const [workspaceId, projectId] = [uuidv7(), uuidv7()]
  const environment = 'development'
  const key = crypto.getRandomValues(new Uint8Array(32))
  const place = { workspaceId, tokenId: id, projectId, environment, epoch: 1 }
  const envelope = await sealTokenEnvelope(place, tokenKeyPair(id, secret).publicKey, key)
  const sealed = Object.entries(values).map(([name, value]) => {
    const at = { projectId, environment, key: name }
    return [
      name,
      { value: toBase64(sealSecretValue(key, at, null, 1, Buffer.from(value))), policy: null },
    ]
  })
  const delivery = {
    status: 'success',
    workspace_id: workspaceId,
    project_id: projectId,
    environment,
    sealed: Object.fromEntries(sealed),
    envelopes: [{ project_id: projectId, environment, epoch: 1, envelope }],
  }
  const server = Bun.serve({ port: 0, fetch: () => Response.json(delivery) })
  return { origin: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) }
}
