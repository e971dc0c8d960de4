// tier: quick
import { describe, expect, test } from 'bun:test'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { OuterLayer, type OuterPart } from '../../../src/core/crypto/outer_layer.ts'
import { OUTER_COLUMNS } from './vector_support.ts'

const keyText = (fill: number) => new Uint8Array(32).fill(fill).toBase64({ alphabet: 'base64url' })
const salt = '01920000-0000-7000-8000-000000000001'
const row = [{ uuid: '01920000-0000-7000-8000-000000000002' }, { text: 'production' }, { u32: 3 }]
const x = new Uint8Array(40).fill(5)
const layer = OuterLayer.parse(keyText(1))

test('any bytes open in the column, salt and row they were sealed for', async () => {
  const parts = fc.oneof(
    fc.record({ uuid: fc.uuid() }),
    fc.record({ text: fc.string() }),
    fc.record({ u32: fc.integer({ min: 0, max: 0xffff_ffff }) }),
  )
  const columns = fc.constantFrom(...OUTER_COLUMNS)
  await fc.assert(
    fc.asyncProperty(
      columns,
      fc.uuid(),
      fc.array(parts),
      fc.uint8Array(),
      async (column, saltId, identity, bytes) => {
        const blob = await layer.seal(column, saltId, identity, bytes)
        expect(await layer.open(column, saltId, identity, blob)).toEqual(bytes)
      },
    ),
  )
})

test('a blob with any single bit flipped does not open', async () => {
  const blob = await layer.seal('secrets.value', salt, row, x)
  for (let bit = 0; bit < blob.length * 8; bit++) {
    const flipped = blob.with(bit >> 3, (blob[bit >> 3] ?? 0) ^ (1 << (bit & 7)))
    expect(await layer.open('secrets.value', salt, row, flipped)).toBeNull()
  }
})

test('a blob of one column opens in no other', async () => {
  for (const from of OUTER_COLUMNS) {
    const blob = await layer.seal(from, salt, row, x)
    for (const to of OUTER_COLUMNS) {
      expect(await layer.open(to, salt, row, blob)).toEqual(from === to ? x : null)
    }
  }
})

test('the boundary between two parts of a row is bound, and so is their number', async () => {
  const blob = await layer.seal('secrets.value', salt, [{ text: 'ab' }, { text: 'c' }], x)
  const moved = [{ text: 'a' }, { text: 'bc' }]
  expect(await layer.open('secrets.value', salt, moved, blob)).toBeNull()
  expect(await layer.open('secrets.value', salt, [{ text: 'ab' }], blob)).toBeNull()
})

test('many blobs open in order, and only a foreign one is missing', async () => {
  const places: OuterPart[][] = Array.from({ length: 300 }, (_, u32) => [{ u32 }])
  const stored = await Promise.all(
    places.map(async (place) => ({
      row: place,
      blob: await layer.seal('secrets.value', salt, place, x),
    })),
  )
  const [first, second] = [stored[0]?.blob ?? x, stored[1]?.blob ?? x]
  const altered = first.with(first.length - 1, (first.at(-1) ?? 0) ^ 1)
  stored.splice(
    2,
    3,
    { row, blob: second },
    { row, blob: x },
    { row: places[0] ?? [], blob: altered },
  )
  const opened = await layer.openAll('secrets.value', salt, stored)
  expect(opened).toHaveLength(300)
  for (const [index, bytes] of opened.entries()) {
    expect(bytes).toEqual(index >= 2 && index < 5 ? null : x)
  }
})

test('data in shared memory is sealed and opened, too', async () => {
  const shared = new Uint8Array(new SharedArrayBuffer(x.length))
  shared.set(x)
  const blob = await layer.seal('secrets.value', salt, row, shared)
  const sharedBlob = new Uint8Array(new SharedArrayBuffer(blob.length))
  sharedBlob.set(blob)
  expect(await layer.open('secrets.value', salt, row, sharedBlob)).toEqual(x)
})

describe('rotation', () => {
  test('the first key encrypts, all decrypt, a retired one does not', async () => {
    const old = await layer.seal('secrets.value', salt, row, x)
    const rotated = OuterLayer.parse(`${keyText(2)}, ${keyText(1)}`)
    expect(await rotated.open('secrets.value', salt, row, old)).toEqual(x)
    const fresh = await rotated.seal('secrets.value', salt, row, x)
    expect(fresh.subarray(1, 5).toHex()).toBe(rotated.primaryKeyId)
    expect(await layer.open('secrets.value', salt, row, fresh)).toBeNull()
    const retired = OuterLayer.parse(keyText(2))
    expect(retired.primaryKeyId).toBe(rotated.primaryKeyId)
    expect(await retired.open('secrets.value', salt, row, old)).toBeNull()
  })

  test('padding of a key is optional', () => {
    const bare = keyText(1).replace('=', '')
    expect(OuterLayer.parse(bare).primaryKeyId).toBe(layer.primaryKeyId)
  })
})

describe('the check row', () => {
  test('the check row opens with the key that sealed it, also after rotation, and with no other', async () => {
    const check = await layer.sealCheck()
    expect(await layer.openCheck(check)).toBe(true)
    expect(await OuterLayer.parse(`${keyText(2)},${keyText(1)}`).openCheck(check)).toBe(true)
    expect(await OuterLayer.parse(keyText(2)).openCheck(check)).toBe(false)
    expect(await layer.openCheck(new Uint8Array(0))).toBe(false)
  })

  test('the check row is not a blob of any column', async () => {
    const nil = '00000000-0000-0000-0000-000000000000'
    const check = await layer.sealCheck()
    for (const column of OUTER_COLUMNS) {
      expect(await layer.open(column, nil, [], check)).toBeNull()
    }
  })
})

describe('a wrong ENCRYPTION_KEY', () => {
  const short = new Uint8Array(31).fill(65).toBase64({ alphabet: 'base64url' })
  const wrong = [
    '',
    ',',
    short,
    `${keyText(1)},${short}`,
    `${keyText(1)},${keyText(1)}`,
    'hunter2!',
  ]

  for (const text of wrong) {
    test(`a wrong ENCRYPTION_KEY is rejected without being shown: ${text.length} characters`, () => {
      const failure = failureOf(() => OuterLayer.parse(text))
      expect(failure).toBeInstanceOf(Error)
      for (const entry of text.split(',').filter((part) => part !== '')) {
        expect(inspect(failure)).not.toContain(entry)
      }
    })
  }

  function failureOf(act: () => unknown): unknown {
    try {
      act()
    } catch (failure) {
      return failure
    }
    return null
  }
})

test('sub-keys beyond the bound of the cache are derived again and still open', async () => {
  const first = await layer.seal('secrets.value', salt, row, x)
  for (let index = 0; index < 4200; index++) {
    const other = `01920000-0000-7000-8000-${index.toString(16).padStart(12, '1')}`
    await layer.open('secrets.value', other, row, first)
  }
  expect(await layer.open('secrets.value', salt, row, first)).toEqual(x)
})

test('a printed layer contains no key', () => {
  for (const print of [inspect, Bun.inspect]) {
    expect(print(layer)).not.toMatch(/1, 1, 1|0101|AQEB/)
  }
})
