// tier: all
/** References on the command line: stored as written, delivered as their values. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references look like placeholders of templates
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sharedApp, type TestApp } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { openAccount, type Terminal } from './person.ts'

const PASSWORD = marked('ref-password')
const URL = 'postgres://u:${PASSWORD}@${HOST}/db'
const RESOLVED = `postgres://u:${PASSWORD}@db.internal/db`
const NOT_THERE = 'which does not exist, or whose policy excludes it from environments'

let app: TestApp
let ada: Terminal
let token: string

beforeAll(async () => {
  app = await sharedApp()
  ada = await openAccount(app, 'ada@references.example')
  await ada.must('init', 'payments')
  await ada.must('secrets', 'set', `PASSWORD=${PASSWORD}`, 'HOST=db.internal')
  await ada.must('secrets', 'set', `URL=${URL}`, '--references')
  await ada.must('secrets', 'set', 'TEXT=${HOST} $${HOST} ${{ x }}')
  token = ((await ada.json('workload-token', 'issue', 'ci')) as { token: string }).token
})
afterAll(() => {
  ada.remove()
})

const set = (...args: string[]) => ada.run(['secrets', 'set', ...args])
type Listed = { key: string; policy: unknown; version: number }
const listed = async (name: string) => {
  const secrets = (await ada.json('secrets', 'list')) as Listed[]
  return secrets.find(({ key }) => key === name)
}
const policyOf = async (key: string) => (await listed(key))?.policy
const versionOf = async (key: string) => (await listed(key))?.version

describe('a value with references', () => {
  test('references are delivered resolved, with a session and with a token', async () => {
    for (const env of [{}, { SERVICE_TOKEN: token }]) {
      const options = { env, reveals: true }
      expect(await ada.run(['secrets', 'get', 'URL'], options)).toMatchObject({ out: RESOLVED })
      const { out } = await ada.run(['secrets', 'pull', '--format', 'json'], options)
      expect(JSON.parse(out)).toMatchObject({ URL: RESOLVED, TEXT: '${HOST} $${HOST} ${{ x }}' })
      const child = ['run', '--no-mask', '--', 'sh', '-c', 'printf "$URL|$TEXT"']
      const ran = await ada.run(child, options)
      expect(ran).toEqual({ code: 0, out: `${RESOLVED}|\${HOST} $\${HOST} \${{ x }}`, err: '' })
    }
    ada.write('conf.tpl', 'url = {{ URL }}\n')
    const injected = await ada.run(['inject', '-i', 'conf.tpl'], { reveals: true })
    expect(injected.out).toBe(`url = ${RESOLVED}\n`)
  })

  test('references are printed as stored with --raw, and always for earlier versions', async () => {
    for (const env of [{}, { SERVICE_TOKEN: token }]) {
      const { out } = await ada.run(['secrets', 'get', 'URL', '--raw'], { env })
      expect(out).toBe(URL)
      const pulled = await ada.run(['secrets', 'pull', '--raw', '--format', 'json'], {
        env,
        reveals: true,
      })
      expect(JSON.parse(pulled.out)).toMatchObject({ URL })
    }
    expect(await ada.must('secrets', 'get', 'URL', '--version', '1')).toBe(URL)
  })

  test('a resolved value is masked as a whole and in its parts', async () => {
    const { out } = await ada.run(['run', '--', 'sh', '-c', 'echo "$URL"; echo "$PASSWORD"'])
    expect(out).toBe('[REDACTED]\n[REDACTED]\n')
  })

  test('a value with references follows changes of the referenced secret', async () => {
    await ada.must('secrets', 'set', 'HOST=db2.internal')
    expect(await ada.reveal('secrets', 'get', 'URL')).toBe(RESOLVED.replace('db.', 'db2.'))
    await ada.must('secrets', 'set', 'HOST=db.internal')
  })

  test('a get reads only the referenced secrets, and the audit names them', async () => {
    await ada.reveal('secrets', 'get', 'URL')
    await app.flushAudit()
    const rows = (await ada.json('audit', 'list', '--action', 'secret.read', '--limit', '3')) as {
      credential_ref: string
    }[]
    expect(rows.map((row) => row.credential_ref).sort()).toEqual(['HOST', 'PASSWORD', 'URL'])
  })

  test('a value with references is marked in its policy', async () => {
    expect(await policyOf('URL')).toEqual({ references: true })
    expect(await ada.must('policy', 'show', 'URL')).toContain('with references')
  })

  test('an unresolved reference keeps a command from starting, with the reason', async () => {
    await set('BROKEN=${GONE}', '--references', '--yes', '-e', 'broken')
    // An earlier version closes a circle that no value had when it was stored.
    await set('ROUND=${OTHER}', '--references', '--yes', '-e', 'broken')
    await set('ROUND=fixed', '-e', 'broken')
    await set('OTHER=${ROUND}', '--references', '-e', 'broken')
    await ada.must('secrets', 'rollback', 'ROUND', '1', '--yes', '-e', 'broken')
    const issued = await ada.json('workload-token', 'issue', 'broken', '-e', 'broken')
    for (const env of [{}, { SERVICE_TOKEN: (issued as { token: string }).token }]) {
      const args = ['run', '-e', 'broken', '--', 'echo', 'started']
      expect(await ada.run(args, { env })).toEqual({
        code: 1,
        out: '',
        err:
          `cloakroom: BROKEN refers to GONE, ${NOT_THERE} (unresolved_reference)\nOTHER refers to ROUND refers to OTHER: this is a circular reference\nROUND refers to OTHER refers to ROUND: this is a circular reference\n` +
          '→ show the stored value with: cloakroom secrets get NAME --raw\n',
      })
      const json = await ada.run(['secrets', 'get', 'BROKEN', '-e', 'broken', '--json'], { env })
      expect(JSON.parse(json.err).error.code).toBe('unresolved_reference')
      const raw = ['secrets', 'get', 'BROKEN', '-e', 'broken', '--raw']
      expect(await ada.run(raw, { env })).toMatchObject({ code: 0, out: '${GONE}' })
    }
  })

  test('a reference does not deliver a secret that its policy omits from environments', async () => {
    await ada.must('secrets', 'set', `KEPT=${marked('kept')}`, '-e', 'kept')
    await ada.must('policy', 'set', 'KEPT', '--locations', 'header', '-e', 'kept')
    const around = ['AROUND=${KEPT}', '--references', '-e', 'kept']
    const refused = await set(...around)
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining(NOT_THERE)])
    await ada.must('policy', 'clear', 'KEPT', '-e', 'kept')
    await ada.must('secrets', 'set', ...around)
    await ada.must('policy', 'set', 'KEPT', '--locations', 'header', '-e', 'kept')
    const message = `cloakroom: AROUND refers to KEPT, ${NOT_THERE} (unresolved_reference)`
    for (const args of [
      ['run', '-e', 'kept', '--', 'env'],
      ['secrets', 'get', 'AROUND', '-e', 'kept'],
    ]) {
      const { code, out, err } = await ada.run(args)
      expect([code, out, err.split('\n')]).toEqual([1, '', expect.arrayContaining([message])])
    }
    expect((await ada.run(['secrets', 'get', 'KEPT', '-e', 'kept'], { reveals: true })).code).toBe(
      0,
    )
  })
})

describe('a stored value', () => {
  test('a value is literal text without --references, and a remark names a likely reference', async () => {
    expect(await set('LIKE=x${HOST}')).toMatchObject({
      code: 0,
      err: 'LIKE: ${HOST} is literal text (pass --references to resolve it)\n',
    })
    expect(await policyOf('LIKE')).toBeNull()
    expect(await ada.must('secrets', 'get', 'LIKE')).toBe('x${HOST}')
    for (const value of ['${NOBODY}', '$HOST', '${HOST:-x}', '$${HOST}', '${{ HOST }}'])
      expect(await set(`QUIET=${value}`)).toMatchObject({ code: 0, err: '' })
  })

  test('a reference to a missing secret is rejected unless confirmed', async () => {
    const early = ['EARLY=${HOST}${LATER}', '--references']
    ada.write('early.json', JSON.stringify({ EARLY: '${HOST}${LATER}' }))
    const elsewhere = ['secrets', 'copy', 'URL', '--to', 'staging']
    const dangling = [
      ['secrets', 'set', ...early],
      ['secrets', 'push', 'early.json', '--references'],
      ['secrets', 'set', ...early, '--mine'],
    ]
    for (const args of dangling)
      expect(await ada.run(args)).toEqual({
        code: 1,
        out: '',
        err: `cloakroom: EARLY refers to LATER, not in payments/development (unresolved_reference)
nothing was stored
→ store the referenced secrets first, or confirm with --yes\n`,
      })
    expect((await ada.run(elsewhere)).err).toContain('URL refers to PASSWORD, HOST, not in')
    expect([await policyOf('EARLY'), await ada.json('secrets', 'list', '-e', 'staging')]).toEqual([
      undefined,
      [],
    ])
    expect(await set(...early, '--yes')).toMatchObject({
      code: 0,
      err: 'EARLY refers to LATER, not in payments/development\n',
    })
    expect(await set('LATER=later', 'EARLY=${HOST}${LATER}')).toMatchObject({ code: 0, err: '' })
    expect(await ada.must('secrets', 'get', 'EARLY')).toBe('db.internallater')
  })

  test('a circle of references is rejected with its path', async () => {
    const at = ['-e', 'round']
    await ada.must(
      'secrets',
      'set',
      'FIRST=1',
      'SECOND=${FIRST}',
      'THIRD=${SECOND}',
      ...at,
      '--references',
    )
    ada.write('round.json', JSON.stringify({ FIRST: '${THIRD}' }))
    const path =
      'FIRST refers to THIRD refers to SECOND refers to FIRST: this is a circular reference'
    for (const args of [
      ['secrets', 'set', 'FIRST=${THIRD}', '--references', ...at],
      ['secrets', 'set', 'FIRST=${THIRD}', '--references', '--mine', ...at],
      ['secrets', 'push', 'round.json', '--references', '--yes', ...at],
      ['secrets', 'push', 'round.json', '--references', '--dry-run', ...at],
    ]) {
      const { code, out, err } = await ada.run([...args, '--json'])
      const { error } = JSON.parse(err.trim().split('\n').at(-1) ?? '')
      expect([code, out, error.code]).toEqual([1, '', 'unresolved_reference'])
      expect(error.message).toBe(`${path}\nnothing was stored`)
    }
    const itself = await ada.run(['secrets', 'set', 'SELF=${SELF}', '--references', ...at])
    expect(itself.err).toContain('SELF refers to SELF: this is a circular reference')
    expect(await ada.must('secrets', 'get', 'THIRD', ...at)).toBe('1')
    await ada.must('secrets', 'set', 'LOOP=${THIRD}', ...at)
    await ada.must('secrets', 'set', 'FIRST=${LOOP}', ...at)
    const late = await ada.run(['policy', 'set', 'FIRST', '--references', ...at])
    expect(late.code).toBe(0)
    const closed = await ada.run(['policy', 'set', 'LOOP', '--references', ...at])
    expect([closed.code, closed.err]).toEqual([
      1,
      expect.stringContaining('this is a circular reference'),
    ])
  })

  test('a value keeps its references while a new value has some, and loses them otherwise', async () => {
    await ada.must('secrets', 'set', 'KEEPS=${HOST}', '--references')
    await ada.must('secrets', 'set', 'KEEPS=<${HOST}>')
    expect(await ada.must('secrets', 'get', 'KEEPS')).toBe('<db.internal>')
    expect(await set('KEEPS=fixed')).toMatchObject({
      code: 0,
      err: 'references removed: KEEPS\n',
    })
    expect(await policyOf('KEEPS')).toBeNull()
  })

  test('--references rejects a value without a reference or with an invalid one', async () => {
    const none = await set('NONE=text', '--references')
    expect([none.code, none.err.split('\n')[0]]).toEqual([
      2,
      'cloakroom: no value has a reference (usage)',
    ])
    const wrong = await set('WRONG=${HOST:-x}', '--references')
    expect([wrong.code, wrong.err.split('\n')[0]]).toEqual([
      2,
      'cloakroom: ${ in WRONG is not followed by a name and }: write $${ for literal text (usage)',
    ])
    expect(await policyOf('WRONG')).toBeUndefined()
  })

  test('policy set adds references to a stored value, and policy clear removes them', async () => {
    await ada.must('secrets', 'set', 'LATE=${HOST}')
    expect(await ada.must('policy', 'set', 'LATE', '--references')).toContain('with references')
    expect(await ada.must('secrets', 'get', 'LATE')).toBe('db.internal')
    await ada.must('policy', 'clear', 'LATE')
    expect(await policyOf('LATE')).toEqual({ references: true })
    await ada.must('policy', 'clear', 'LATE', 'references')
    expect(await ada.must('secrets', 'get', 'LATE')).toBe('${HOST}')
    const { code } = await ada.run(['policy', 'set', 'HOST', '--references'])
    expect(code).toBe(2)
  })
})

test('a copy resolves references in its new environment, and names the missing ones', async () => {
  await ada.must('secrets', 'set', 'HOST=db.copy', '-e', 'copied')
  const copy = ['secrets', 'copy', 'URL', 'LIKE', '--to', 'copied', '--yes']
  expect(await ada.run(copy)).toMatchObject({
    code: 0,
    err: 'URL refers to PASSWORD, not in payments/copied\n',
  })
  await ada.must('secrets', 'set', 'PASSWORD=other', '-e', 'copied')
  expect(await ada.must('secrets', 'get', 'URL', '-e', 'copied')).toBe(
    'postgres://u:other@db.copy/db',
  )
})

describe('a file', () => {
  test('pushing a pulled file changes nothing, whether resolved or raw', async () => {
    for (const form of [[], ['--raw']]) {
      await ada.must('secrets', 'pull', 'round.env', '--force', ...form)
      const before = await versionOf('URL')
      const pushed = (await ada.json('secrets', 'push', 'round.env')) as object
      expect(pushed).toMatchObject({ created: 0, updated: 0 })
      expect(await versionOf('URL')).toBe(before)
    }
    expect(readFileSync(join(ada.cwd, 'round.env'), 'utf8')).toContain(
      "URL='postgres://u:${PASSWORD}",
    )
  })

  test('pushing a file with one changed value keeps the references to it', async () => {
    await ada.must('secrets', 'pull', 'part.json', '--force')
    const path = join(ada.cwd, 'part.json')
    const values = JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>
    ada.write('part.json', JSON.stringify({ ...values, HOST: 'db3.internal' }))
    await ada.must('secrets', 'push', 'part.json')
    expect(await ada.must('secrets', 'get', 'URL', '--raw')).toBe(URL)
    expect(await ada.reveal('secrets', 'get', 'URL')).toBe(RESOLVED.replace('db.', 'db3.'))
    await ada.must('secrets', 'set', 'HOST=db.internal')
  })

  test('push --references marks only the values that have references', async () => {
    ada.write('marks.json', JSON.stringify({ M_HOST: 'h', M_URL: 'http://${M_HOST}/' }))
    await ada.must('secrets', 'push', 'marks.json', '--references')
    expect(await ada.must('secrets', 'get', 'M_URL')).toBe('http://h/')
    expect(await policyOf('M_HOST')).not.toMatchObject({ references: true })
  })
})
