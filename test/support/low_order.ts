/** The public keys of low order, in hex, and ordinary neighbours of them. */

const ORDER_8 = 'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800'
const ORDER_8_TOO = '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157'

/** The twelve of https://cr.yp.to/ecdh.html#validate; the last five are read so without masking. */
const PUBLISHED = [
  '00'.repeat(32),
  `01${'00'.repeat(31)}`,
  ORDER_8,
  ORDER_8_TOO,
  `ec${'ff'.repeat(30)}7f`,
  `ed${'ff'.repeat(30)}7f`,
  `ee${'ff'.repeat(30)}7f`,
  'cdeb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b880',
  '4c9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f11d7',
  `d9${'ff'.repeat(31)}`,
  `da${'ff'.repeat(31)}`,
  `db${'ff'.repeat(31)}`,
]

/** The first seven again with the top bit, which RFC 7748 ignores. */
const WITH_TOP_BIT = PUBLISHED.slice(0, 7).map((hex) => {
  const bytes = Uint8Array.fromHex(hex)
  bytes[31] = (bytes[31] ?? 0) | 0x80
  return bytes.toHex()
})

export const LOW_ORDER_KEYS = [...new Set([...PUBLISHED, ...WITH_TOP_BIT])]

/** The base point in both encodings, one more and one less than points of low order. */
export const ORDINARY_KEYS = [
  `09${'00'.repeat(31)}`,
  `f6${'ff'.repeat(30)}7f`,
  `02${'00'.repeat(31)}`,
  `eb${'ff'.repeat(30)}7f`,
  `ef${'ff'.repeat(30)}7f`,
  ORDER_8.replace(/^e0/, 'e1'),
  ORDER_8_TOO.replace(/^5f/, '5e'),
]
