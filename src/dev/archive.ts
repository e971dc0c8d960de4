/** Tar archives that are the same whenever they are made. */

const BLOCK = 512
/** Fields of a header, by their first byte: all are octal digits. */
const SIZE = 124
const TIME = { at: 136, length: 11 }
const CHECKSUM = { at: 148, length: 8 }

/** Bun.Archive notes the present time in each entry; here it is 1970. A name that ends in a slash is a directory. */
export async function archiveOf(files: Record<string, Uint8Array>): Promise<Uint8Array> {
  const archive = await new Bun.Archive(files).bytes()
  for (let at = 0; archive[at] !== 0 && at < archive.length; at += BLOCK) {
    const header = archive.subarray(at, at + BLOCK)
    const size = Number.parseInt(new TextDecoder().decode(header.subarray(SIZE, TIME.at)), 8)
    write(header, TIME.at, '0'.repeat(TIME.length))
    // The checksum is defined as the sum of all bytes with spaces in its place.
    write(header, CHECKSUM.at, ' '.repeat(CHECKSUM.length))
    const sum = header.reduce((total, byte) => total + byte, 0)
    write(header, CHECKSUM.at, `${sum.toString(8).padStart(6, '0')}\0`)
    at += Math.ceil(size / BLOCK) * BLOCK
  }
  return archive
}

function write(header: Uint8Array, at: number, text: string): void {
  header.set(new TextEncoder().encode(text), at)
}
