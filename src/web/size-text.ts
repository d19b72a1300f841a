const [KB, MB, GB] = [1024, 1024 ** 2, 1024 ** 3]

/** A number of bytes as people read it. */
export function sizeText(bytes: number): string {
  if (bytes === 1) return '1 byte'
  if (bytes < KB) return `${bytes} bytes`
  if (bytes < MB) return `${Math.round(bytes / KB)} KB`
  const [unit, name] = bytes < GB ? [MB, 'MB'] : [GB, 'GB']
  return `${(bytes / unit).toFixed(1).replace('.0', '')} ${name}`
}
