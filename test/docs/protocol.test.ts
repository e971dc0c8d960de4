import { expect, test } from 'bun:test'
import { faultCodes, statusOf } from '../../src/platform/fault.ts'

const protocol = await Bun.file(`${import.meta.dir}/../../docs/protocol.md`).text()
const readme = await Bun.file(`${import.meta.dir}/../../README.md`).text()

test('the table of error codes is the catalogue', () => {
  const section = protocol.split('## Error codes')[1]?.split('\n## ')[0] ?? ''
  const documented = [...section.matchAll(/^\| (\d{3}) \| (.*) \|$/gm)].flatMap(
    ([, status, codes = '']) =>
      [...codes.matchAll(/`(\w+)`/g)].map(([, code = '']) => [code, Number(status)] as const),
  )
  expect(Object.fromEntries(documented)).toEqual(
    Object.fromEntries(faultCodes.map((code) => [code, statusOf(code)])),
  )
})

test('the README quotes the claim word for word', () => {
  expect(readme).toContain(
    'At rest, nothing the server holds decrypts a secret: not the database, not `ENCRYPTION_KEY`, not both. A value exists in server memory only while a request with a live, provisioned token is being served (and in a short key cache that can be switched off). A server that is compromised while running can read what is used while it is compromised.',
  )
})
