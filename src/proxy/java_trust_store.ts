/**
 * A trust store of Java in its oldest form, JKS, which every version reads: a list of certificates, and a checksum. It
 * has no secrets; the password in the checksum is Java's default.
 */
import { createHash } from 'node:crypto'

const MAGIC = 0xfeedfeed
const VERSION = 2
const TRUSTED_CERTIFICATE = 2
const PASSWORD = 'changeit'
const SALT = 'Mighty Aphrodite'

/** @param certificates in DER */
export function trustStoreOf(certificates: readonly Uint8Array[]): Uint8Array {
  const entries = certificates.map((certificate, at) =>
    Buffer.concat([
      u32(TRUSTED_CERTIFICATE),
      text(`authority-${at}`),
      // The time of its addition, in milliseconds since 1970, which is unused.
      Buffer.alloc(8),
      text('X.509'),
      u32(certificate.length),
      certificate,
    ]),
  )
  const store = Buffer.concat([u32(MAGIC), u32(VERSION), u32(entries.length), ...entries])
  const password = Buffer.from(PASSWORD, 'utf16le').swap16()
  const digest = createHash('sha1').update(password).update(SALT).update(store).digest()
  return Buffer.concat([store, digest])
}

function u32(number: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(number)
  return bytes
}

/** Length in two bytes, then UTF-8. */
function text(content: string): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(content.length)
  return Buffer.concat([bytes, Buffer.from(content)])
}
