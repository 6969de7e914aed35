# Pawl: prove and Test::Harness keep the output of each test file for us. It changes nothing else.
package PawlReport;
use strict;

my $folder = $ENV{PAWL_REPORT_DIR};
my ($process, $kept, $cwd) = ($$);
(my $here = __FILE__) =~ s{/[^/]*$}{};
@INC = grep { $_ ne $here } @INC;

# Only the outermost runner reports: a test, and what it starts, must find no trace of us.
if ($ENV{HARNESS_ACTIVE}) {
    for my $name (split ' ', $ENV{PAWL_REPORT_VARS} || '') {
        my $before = delete $ENV{"PAWL_WAS_$name"};
        if (defined $before) { $ENV{$name} = $before }
        else { delete $ENV{$name} }
    }
    delete @ENV{qw(PAWL_REPORT_DIR PAWL_REPORT_VARS PERL_TEST_HARNESS_DUMP_TAP)};
}
elsif ($folder) {
    require Cwd;
    $cwd = Cwd::getcwd();
    $kept = $ENV{PERL_TEST_HARNESS_DUMP_TAP} = "$folder/prove-$$-" . time;
}

# The folder is there if this process was a harness.
END {
    if ($kept && $$ == $process && -d $kept && open my $file, '>', "$kept.end") {
        my $status = $?;
        print $file "$cwd\n";
        close $file;
        $? = $status;
    }
}

1;
