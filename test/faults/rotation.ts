/** Rotates the server's two keys as documented in docs/guides/server-keys.md, while kill -9 ends the server and `rekey-outer`. */
import { randomBytes } from 'node:crypto'
import { parseOuterKeys } from '../../src/core/crypto/outer_keys.ts'
import { Pepper } from '../../src/core/crypto/pepper.ts'
import type { Finding } from '../../src/operator/checks/check.ts'
import type { RekeyResult } from '../../src/operator/rekey_outer/index.ts'
import { operate, type Ran, start } from '../operator/backup/support.ts'
import { whileDown } from './kill.ts'
import { must } from './ledger.ts'
import type { Random } from './random.ts'
import type { Replica } from './subject.ts'
import { reconcileAll } from './work.ts'
import type { World } from './world.ts'

type Keys = { SECRET_KEY: string; ENCRYPTION_KEY: string }

/** Rotates both keys to the next ones; afterwards the previous ones are removed. Returns the number of kills. */
export async function rotationRound(world: World, random: Random): Promise<number> {
  const { env, replicas } = world.subject
  const old: Keys = { SECRET_KEY: env.SECRET_KEY ?? '', ENCRYPTION_KEY: env.ENCRYPTION_KEY ?? '' }
  const next = newKeys()
  let kills = 0
  await world.through(async () => {
    for (const keys of [both(old, next), both(next, old)]) {
      await Bun.sleep(random.between(20, 500))
      Object.assign(env, keys)
      for (const replica of replicas) await restart(world, replica, 'SIGKILL')
    }
    kills = await rekeyUnderKills(world, random, old)
  })
  await mustBeInUse(world, 'warn', [next, old])
  // Data under the old SECRET_KEY moves at the next login and the next use.
  for (const person of world.people) await person.logIn()
  for (const { step } of world.works) await step()
  Object.assign(env, next, { SECRET_KEY_LOST: withLost(env.SECRET_KEY_LOST, old) })
  for (const replica of replicas) await restart(world, replica, 'SIGTERM')
  await reconcileAll(world.works)
  for (const { step } of world.works) await step()
  await mustBeInUse(world, 'ok', [next])
  return kills + 2 * replicas.length
}

function newKeys(): Keys {
  return {
    SECRET_KEY: randomBytes(32).toString('hex'),
    ENCRYPTION_KEY: randomBytes(32).toString('base64url'),
  }
}

function both(first: Keys, second: Keys): Keys {
  return {
    SECRET_KEY: `${first.SECRET_KEY},${second.SECRET_KEY}`,
    ENCRYPTION_KEY: `${first.ENCRYPTION_KEY},${second.ENCRYPTION_KEY}`,
  }
}

/** Unused data stays under it: recovery keys, and sessions that ended with a login. */
function withLost(lost: string | undefined, { SECRET_KEY }: Keys): string {
  const [id] = Pepper.parse(SECRET_KEY).keyIds
  return lost === undefined ? id : `${lost},${id}`
}

function restart(world: World, replica: Replica, signal: NodeJS.Signals): Promise<void> {
  return whileDown(world, [replica], () => replica.bounce(signal))
}

/** An ended process's connections exist until PostgreSQL detects it, and so does the lock that one of them held. */
const NOT_YET = /another rekey-outer is running|processes without the key|the server stopped/
const DONE_MS = 60_000

async function rekeyUnderKills(world: World, random: Random, old: Keys): Promise<number> {
  const kills = random.between(1, 3)
  for (let count = 0; count < kills; count += 1) await killedRekey(world, random)
  const [{ id: key }] = parseOuterKeys(old.ENCRYPTION_KEY)
  const until = performance.now() + DONE_MS
  for (;;) {
    const ran = await operate(world.subject.env, 'rekey-outer', '--json')
    const done = resultOf(ran)
    if (done?.unused_keys.includes(key)) {
      must(ran.code === 0 && done.unreadable === 0, () => `${done.unreadable} rows do not open`)
      return kills
    }
    const isLate = performance.now() > until
    const mayCome = done ? done.needed_keys[key] === 'process' : NOT_YET.test(ran.err)
    must(mayCome && !isLate, () => `rekey-outer ended with ${ran.code}: ${ran.err} ${ran.out}`)
    await Bun.sleep(100)
  }
}

function resultOf({ out }: Ran): RekeyResult | null {
  const last = out.trimEnd().split('\n').at(-1) ?? ''
  if (!last.startsWith('{"event":"done"')) return null
  return JSON.parse(last) as RekeyResult
}

/** The command, a server, or both. */
async function killedRekey(world: World, random: Random): Promise<void> {
  const { env, replicas } = world.subject
  const pace = ['--batch', `${random.between(1, 20)}`, '--pause', `${random.between(0, 30)}`]
  const child = start(env, 'rekey-outer', '--json', ...pace)
  const said = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  const victim = random.between(0, 2)
  await Bun.sleep(random.between(300, 2_500))
  if (victim !== 1) child.kill('SIGKILL')
  const replica = replicas[random.between(0, replicas.length - 1)]
  if (victim !== 0 && replica) await restart(world, replica, 'SIGKILL')
  await said
}

/** Checks the doctor's list of keys: these and no others, and none is missing. */
async function mustBeInUse(
  { subject }: World,
  level: Finding['level'],
  keys: readonly Keys[],
): Promise<void> {
  const { out, err } = await operate(subject.env, 'doctor', '--json')
  const findings = JSON.parse(out) as Finding[]
  const of = (check: string) => findings.find((finding) => finding.check === check)
  const [outer, secret] = [of('encryption_key'), of('secret_key')]
  const ids = keys.map(({ ENCRYPTION_KEY }) => parseOuterKeys(ENCRYPTION_KEY)[0].id)
  const sealing = ids.map((id, index) => `${id} seals ${index === 0 ? '[1-9]\\d*' : 0} rows`)
  const isKnown = new RegExp(`^${sealing.join(', ')}$`).test(outer?.said ?? '')
  must(isKnown && outer?.level === level, () => `the doctor says of keys: ${out} ${err}`)
  must(secret !== undefined && secret.level !== 'fail', () => `a SECRET_KEY is missing: ${out}`)
}
