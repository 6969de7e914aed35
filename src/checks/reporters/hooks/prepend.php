<?php
// Pawl: asks phpunit, pest and paratest for their XML in PAWL_REPORT_DIR. It changes nothing else.
(static function (): void {
    $folder = getenv('PAWL_REPORT_DIR');
    $words = $_SERVER['argv'] ?? [];
    if (PHP_SAPI !== 'cli' || !$folder || !preg_match('~(^|/)(phpunit|pest|paratest)(-?[\d.]+)?(\.phar|\.php)?$~', $words[0] ?? '')) {
        return;
    }
    // The project's own XML is left alone, and read.
    $own = static function () use ($words): ?string {
        $settings = ['phpunit.xml', 'phpunit.dist.xml', 'phpunit.xml.dist'];
        foreach ($words as $at => $word) {
            if (preg_match('~^--log-junit(?:=(.*))?$~s', $word, $found)) {
                return $found[1] ?? $words[$at + 1] ?? null;
            }
            if (preg_match('~^(?:-c|--configuration)(?:=(.*))?$~s', $word, $found)) {
                $named = $found[1] ?? $words[$at + 1] ?? '';
                $settings = is_dir($named) ? array_map(function ($name) use ($named) { return "$named/$name"; }, $settings) : [$named];
            }
        }
        foreach (array_filter($settings, 'is_file') as $file) {
            $text = preg_replace('~<!--.*?-->~s', '', (string) file_get_contents($file));
            $isFound = preg_match('~<junit\b[^>]*\boutputFile="([^"]+)"~', $text, $found)
                || preg_match('~<log\b(?=[^>]*\btype="junit")[^>]*\btarget="([^"]+)"~', $text, $found);
            return $isFound ? ($found[1][0] === '/' ? $found[1] : dirname($file) . '/' . $found[1]) : null;
        }
        return null;
    };
    $name = sprintf('%s/phpunit-%d-%d', $folder, getmypid(), microtime(true) * 1e6);
    $path = $own();
    if ($path === null) {
        $path = "$name.xml";
        array_splice($words, 1, 0, ['--log-junit', $path]);
        $_SERVER['argv'] = $GLOBALS['argv'] = $words;
        $_SERVER['argc'] = $GLOBALS['argc'] = count($words);
    }
    $place = ['xml' => strncmp($path, '/', 1) === 0 ? $path : getcwd() . "/$path", 'cwd' => getcwd()];
    @file_put_contents("$name.place", json_encode($place));
    // Only the outermost runner reports: what its tests start must find no trace of us.
    foreach (explode(' ', (string) getenv('PAWL_REPORT_VARS')) as $variable) {
        $before = getenv("PAWL_WAS_$variable");
        putenv($before === false ? $variable : "$variable=$before");
        unset($_SERVER[$variable], $_ENV[$variable]);
    }
    putenv('PAWL_REPORT_DIR');
    putenv('PAWL_REPORT_VARS');
    unset($_SERVER['PAWL_REPORT_DIR'], $_SERVER['PAWL_REPORT_VARS'], $_ENV['PAWL_REPORT_DIR'], $_ENV['PAWL_REPORT_VARS']);
})();
