// tier: all
/** The committed template of the embedded database is exactly what this version of PGlite initialises. */
import { expect, test } from 'bun:test'
import { buildTemplate, TEMPLATE } from '../../../src/dev/template.ts'

const FIX = 'bun src/dev/template.ts'

test(`the committed template has the bytes of a new one (else run: ${FIX})`, async () => {
  const committed = Bun.zstdDecompressSync(await Bun.file(TEMPLATE).bytes())
  const built = await buildTemplate()
  expect(Buffer.compare(built, committed)).toBe(0)
}, 60_000)
