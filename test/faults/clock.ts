/** A server with a clock that is a day wrong, ahead and behind, by libfaketime; PostgreSQL and clients keep theirs. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { logInByPassword } from '../../src/client/account/log_in.ts'
import { ApiError } from '../../src/client/http/api.ts'
import { listAllowlist } from '../../src/features/allowlist/contract.ts'
import { databaseKind, preparedDatabase } from '../support/database.ts'
import { must } from './ledger.ts'
import { allow, createAgent, enrol, PASSWORD, type Person, placeOf, store } from './person.ts'
import { type Replica, type Subject, startSubject } from './subject.ts'
import { reconcileAll } from './work.ts'
import { allowlistWork, bulkWork, callWork, refreshWork, resolveAs, revokeWork } from './works.ts'

/** A little more than a day, so that everything with a lifetime of a day has expired. */
export const AHEAD = 86_460
export const BEHIND = -86_460

export type WrongClock = { subject: Subject; move(seconds: number): void; stop(): Promise<void> }

export async function startWithWrongClock(): Promise<WrongClock> {
  const directory = mkdtempSync(join(tmpdir(), 'cr-faults-clock-'))
  const file = join(directory, 'offset')
  const move = (seconds: number) => {
    writeFileSync(`${file}.new`, `${seconds < 0 ? '' : '+'}${seconds}`)
    renameSync(`${file}.new`, file)
  }
  move(0)
  const settings = {
    LD_PRELOAD: await library(),
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  }
  const database: Record<string, string> =
    databaseKind === 'embedded'
      ? { DATA_DIR: join(directory, 'data') }
      : (await preparedDatabase()).env
  const subject = await startSubject({ database, replicas: 1, settings })
  const stop = async () => {
    await subject.stop()
    rmSync(directory, { recursive: true, force: true })
  }
  return { subject, move, stop }
}

async function library(): Promise<string> {
  for await (const path of new Bun.Glob('*/faketime/libfaketimeMT.so.1').scan('/usr/lib'))
    return join('/usr/lib', path)
  throw new Error('libfaketime is not installed')
}

/** The database's clock decides what has expired. */
const EXPIRED = databaseKind === 'embedded' ? 401 : 200

/** @throws Loss */
export async function wrongByADay({ subject, move }: WrongClock): Promise<void> {
  const [replica] = subject.replicas as [Replica]
  const [person, renewing, guessed] = (await Promise.all(
    [1, 2, 3].map(() => enrol(replica.controlPlane)),
  )) as [Person, Person, Person]
  await store(placeOf(person), { API_KEY: 'a key of faults' })
  await allow(person, subject.domain)
  const lasting = await createAgent(person, 'lasting')
  const brief = await createAgent(person, 'brief', 1)
  const works = [
    await bulkWork(subject, person),
    allowlistWork(subject, person),
    revokeWork(subject, person),
    callWork(subject, person, lasting, replica),
    refreshWork(subject, renewing),
  ]
  const isOpen = async (what: 'session' | 'token', status: number, when: string) => {
    const seen = what === 'session' ? await sessionStatus(person) : await briefStatus()
    must(seen === status, () => `a ${what} is answered ${seen} instead of ${status} ${when}`)
  }
  const briefStatus = () => resolveAs(replica, brief, subject.target('/brief'))
  const work = async () => {
    for (const { step } of works) for (let count = 0; count < 2; count += 1) await step()
    await reconcileAll(works)
  }

  await isOpen('token', 200, 'before')
  await work()

  move(AHEAD)
  await isOpen('session', EXPIRED, 'a day later')
  await isOpen('token', EXPIRED, 'a day later')
  await person.logIn()
  await work()
  while ((await logInStatus(guessed, 'another passphrase')) !== 429);

  move(0)
  await isOpen('token', 200, 'when the clock is right again')
  await isOpen('session', 200, 'when the clock is right again')
  await work()
  const until = Date.now() + 60_000
  while ((await logInStatus(guessed, PASSWORD)) === 429) {
    must(Date.now() < until, () => 'somebody waits for the time that the clock was ahead')
    await Bun.sleep(200)
  }

  move(BEHIND)
  await isOpen('token', 200, 'a day before')
  await person.logIn()
  await work()

  move(0)
  await isOpen('token', 200, 'at the end')
  await person.logIn()
  await work()
}

const statusOf = (work: Promise<unknown>): Promise<number> =>
  work.then(
    () => 200,
    (error) => {
      if (error instanceof ApiError) return error.status
      throw error
    },
  )

const sessionStatus = ({ api, workspace }: Person) =>
  statusOf(api.list(listAllowlist, { params: { workspace_id: workspace.id } }))

const logInStatus = ({ origin, email }: Person, password: string) =>
  statusOf(logInByPassword(origin, email, password))
