// tier: all
/** Import and export of secrets, refused files, and uploads of more than one request. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freshEmail, sharedApp } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { watched } from '../support/watched.ts'
import { openAccount, type Terminal } from './person.ts'

let ada: Terminal

beforeAll(async () => {
  ada = await openAccount(await sharedApp(), freshEmail('ada'))
  await ada.must('init', 'payments')
})
afterAll(() => ada.remove())

test('no value of a file is stored when a part of the file is invalid', async () => {
  const refused = async (name: string, text: string | Uint8Array) => {
    writeFileSync(join(ada.cwd, name), text)
    const { code, err } = await ada.run(['secrets', 'set', '--from-file', name, '-e', 'refused'])
    expect(code).toBe(2)
    expect(await ada.json('secrets', 'list', '-e', 'refused')).toEqual([])
    return err
  }
  expect(await refused('bad.env', 'A=1\nB=x#y\nnothing\n')).toBe(
    'cloakroom: bad.env, line 2: this # starts a comment in some programs: use quotes (invalid_file)\n' +
      'bad.env, line 3: this is not NAME=value\n→ nothing was stored\n',
  )
  const many = Array.from({ length: 600 }, (_, index) => [`KEY_${index}`, 'x'])
  const long = [...many, ['LONG', 'x'.repeat(200_000)]]
  const entries = JSON.stringify(Object.fromEntries(long))
  expect(await refused('long.json', entries)).toContain(
    'long.json, line 1: LONG has 200,000 bytes; the limit is 98,271',
  )
  const names = JSON.stringify(Object.fromEntries([...many, ['NO-NAME', 'x']]))
  expect(await refused('names.json', names)).toContain('NO-NAME is not a valid secret name')
  const latin = Buffer.from('A=1\nB=caf\u00e9\n', 'latin1')
  expect(await refused('latin.env', latin)).toContain('latin.env, line 2: this is not UTF-8')
})

test('large values are uploaded in as many requests as necessary', async () => {
  const many = Object.fromEntries(
    Array.from({ length: 70 }, (_, index) => [`LARGE_${index}`, 'x'.repeat(60_000)]),
  )
  ada.write('large.json', JSON.stringify(many))
  expect(await ada.json('secrets', 'set', '--from-file', 'large.json', '-e', 'large')).toEqual({
    created: 70,
    updated: 0,
  })
})

const imported = { A: '1', B: 'two\nlines', C: 'x $y', D: marked('plain') }
const files: Record<string, [name: string, text: string]> = {
  dotenv: [
    'in.env',
    `# comment\nexport A=1\nB="two\\nlines"\nC='x $y'\nD=${imported.D} # remark\n`,
  ],
  json: ['in.json', `{"A":"1","B":"two\\nlines","C":"x $y","D":"${imported.D}"}`],
  yaml: ['in.yaml', `A: 1\nB: "two\\nlines"\nC: x $y\nD: ${imported.D}\n`],
  doppler: [
    'doppler.json',
    `{"A":{"computed":"1"},"B":{"computed":"two\\nlines"},"C":{"computed":"x $y"},"D":{"computed":"${imported.D}"}}`,
  ],
  infisical: [
    'infisical.json',
    `[{"key":"A","value":"1"},{"key":"B","value":"two\\nlines"},{"key":"C","value":"x $y"},{"key":"D","value":"${imported.D}"}]`,
  ],
  'older infisical': [
    'old.json',
    `{"secrets":[{"secretKey":"A","secretValue":"1"},{"secretKey":"B","secretValue":"two\\nlines"},{"secretKey":"C","secretValue":"x $y"},{"secretKey":"D","secretValue":"${imported.D}"}]}`,
  ],
}
for (const [format, [name, text]] of Object.entries(files)) {
  test(`import reads ${format}`, async () => {
    const environment = `import-${format.replace(' ', '-')}`
    ada.write(name, text)
    await ada.must('secrets', 'set', '--from-file', name, '-e', environment)
    expect(
      JSON.parse(await ada.reveal('secrets', 'pull', '--format', 'json', '-e', environment)),
    ).toEqual(imported)
  })
}

for (const format of ['dotenv', 'json', 'yaml']) {
  test(`a ${format} export is imported with the same values`, async () => {
    const name = `round.${format === 'dotenv' ? 'env' : format}`
    await ada.must('secrets', 'pull', name, '--format', format, '-e', 'import-dotenv')
    expect(statSync(join(ada.cwd, name)).mode & 0o777).toBe(0o600)
    await ada.must('secrets', 'push', name, '-e', `round-${format}`)
    expect(
      JSON.parse(await ada.reveal('secrets', 'pull', '--format', 'json', '-e', `round-${format}`)),
    ).toEqual(imported)
  })
}

test('a shell reads the values of a shell export unchanged', async () => {
  ada.write('odd.json', JSON.stringify({ ODD: `a'b"c\\d\n$e` }))
  await ada.must('secrets', 'set', '--from-file', 'odd.json', '-e', 'shell')
  const script = await ada.reveal('secrets', 'pull', '--format', 'shell', '-e', 'shell')
  const shell = watched(Bun.spawnSync(['sh', '-c', `${script}\nprintf %s "$ODD"`]))
  expect(shell.stdout.toString()).toBe(`a'b"c\\d\n$e`)
})

test('a file larger than one request is uploaded in several', async () => {
  const many = Object.fromEntries(
    Array.from({ length: 620 }, (_, index) => [`KEY_${index}`, `value ${index}`]),
  )
  ada.write('many.json', JSON.stringify(many))
  expect(await ada.json('secrets', 'set', '--from-file', 'many.json', '-e', 'many')).toEqual({
    created: 620,
    updated: 0,
  })
  expect(JSON.parse(await ada.reveal('secrets', 'pull', '--format', 'json', '-e', 'many'))).toEqual(
    many,
  )
})
