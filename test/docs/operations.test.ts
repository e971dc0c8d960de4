import { expect, test } from 'bun:test'
import { documentConfig } from '../../src/platform/config/config.ts'

test('the table of settings is the one that the declaration prints', async () => {
  const text = await Bun.file(`${import.meta.dir}/../../docs/operations.md`).text()
  const [, table] = /<!-- settings -->\n(.*?)\n<!-- \/settings -->/s.exec(text) ?? []
  expect(table).toBe(documentConfig())
})
