/** A text as a QR code, for the camera of a phone; it stands beside the text itself. */
import encode from 'qr'

const MARGIN = 4

export function QrCode({ text, name }: { text: string; name: string }) {
  const rows = encode(text, 'raw', { border: MARGIN })
  const dark = rows.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])),
  )
  return (
    <svg
      className="qr"
      role="img"
      aria-label={name}
      viewBox={`0 0 ${rows.length} ${rows.length}`}
      shapeRendering="crispEdges"
    >
      <path d={dark.join('')} />
    </svg>
  )
}
